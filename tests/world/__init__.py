"""What tests are made of: one module for each kind of thing that a test may want to begin with.

Rows and directories
    rows            projects, sessions, dreams, proposals as rows alone; `make_world` makes one of each
    directory       a project on a real memory directory, and small proposals for it
    review          a proposal as a dream makes it: several files, operations over two of them, evidence
    every_kind      a large proposal with a change of every kind
    questions       a project with a question of every kind
    talking         sessions of one project, line by line, that went quiet
    manifest        what stands in a folder: bytes, modes, times, attributes; to compare before with after
    agent_folder    a config folder as an agent leaves it: transcripts, memories, repositories
    kept            any of these, made once for all tests of a module
    new_database    the tables without rows of ours, made once for a run
    everything      one with everything in it at once; by hand: `python -m tests.world.everything DIR`
Dreams
    engines         engines that do what a test says; `asking` adds questions, `trusting` approvals
    rules           one dream of the rules engine, without a database
    model           one dream of a model, over HTTP against our own server; `faults` is what can go wrong there
Pure parts
    cases           a table of cases as one test that names each that fails
    journal, sandbox, findings, transcripts, similarity_pairs, strategies
Processes
    processes       commands, servers, a database server, receivers of mail and webhooks
"""
