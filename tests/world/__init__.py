"""Fixtures for tests: one module for each kind of starting point.

Rows and directories
    rows            projects, sessions, dreams, proposals as rows only; `make_world` makes one of each
    directory       a project on a real memory directory, and small proposals for it
    review          a realistic proposal: several files, operations over two of them, evidence
    every_kind      a large proposal with a change of every kind
    questions       a project with a question of every kind
    slots           memories of which it is known after any order of changes what each line must be
    talking         sessions of one project, line by line, that are quiet
    manifest        the state of a folder: bytes, modes, times, attributes; to compare before with after
    agent_folder    an agent's config folder: transcripts, memories, repositories
    kept            any of these, made once for all tests of a module
    new_database    an empty database with its tables, made once for a run
    everything      a config folder with everything in it; by hand: `python -m tests.world.everything DIR`
Dreams
    engines         engines that do what a test specifies; `asking` adds questions, `trusting` approvals
    rules           one dream of the rules engine, without a database
    model           one dream of a model, over HTTP against the fake server; `faults` lists its possible faults
    model_server    the fake server with scripts of answers, and the faults that it has on demand
Pure parts
    cases           a table of cases as one test that names each failing case
    journal, sandbox, findings, transcripts, similarity_pairs, strategies
Processes
    processes       commands, servers, a database server, receivers of mail and webhooks
"""
