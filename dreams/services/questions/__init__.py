"""Questions that a dream asks the owner of the notes.

`asking` saves an engine's questions, `answering` turns an answer into a change of a proposal, `shown_questions` loads them for
pages and commands. `options` has the drafted answers, `joining` adds one to a proposal or removes it, `question_states`
updates questions when proposals and memories change.
"""
