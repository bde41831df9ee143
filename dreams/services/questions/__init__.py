"""Questions from a dream to the person whose notes these are.

`asking` keeps what an engine asked, `answering` turns an answer into a change of a proposal, `shown_questions` is what pages and
commands show. `options` are the drafted answers, `joining` merges one into a proposal and takes it out again, `question_states`
follows what becomes of the proposals and memories.
"""
