"""Titles and authors from the fragments that all generators of texts draw from."""

import json
import os

import schemathesis
from hypothesis import strategies as st

TEXTS = st.lists(st.sampled_from(json.loads(os.environ["FRAGMENTS"])), min_size=1, max_size=6).map("".join)


@schemathesis.hook
def flatmap_body(_context, body):
    if not isinstance(body, dict):
        return st.just(body)
    texts = {name: st.one_of(st.just(body[name]), TEXTS) for name in ("title", "author") if isinstance(body.get(name), str)}
    return st.fixed_dictionaries(texts).map(lambda drawn: {**body, **drawn})
