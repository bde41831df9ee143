"""Reads and edits memory files without changing what was not understood. PURE: no Django, no disk."""

from dreams.lib.memdir.document import (
    INDEX_NAME,
    Document,
    has_text,
    indexes_of,
    is_index,
    is_log,
    is_team,
    is_topic,
    memory_type,
    parse,
    render_value,
    with_body,
    with_description,
)
from dreams.lib.memdir.frontmatter import FIELD_KEYS, MEMORY_TYPES, Frontmatter
from dreams.lib.memdir.index import Index, IndexRow, parse_index, render_row
from dreams.lib.memdir.index_as_loaded import INDEX_MAX_BYTES, INDEX_MAX_LINES, Loaded, loaded
from dreams.lib.memdir.links import WikiLink, is_memory_path, markdown_links, retarget, same_target, wikilinks
from dreams.lib.memdir.names import Spellings, name_key, safe_file_name, slug_for, spellings, twin, unfit
from dreams.lib.memdir.sections import (
    BodyItem,
    Sentence,
    kinds,
    sections,
    sentence_spans,
    sentences,
    with_children,
)
from dreams.lib.memdir.text import MemoryEditError, mask_code, replace_lines, split_lines
