"""A session with the client that openapi-python-client generates: session.py BASE_URL."""

import sys
from urllib.parse import parse_qs
from uuid import uuid4

from book_catalog_client import AuthenticatedClient, Client
from book_catalog_client.api.books import create_book, delete_book, get_book, list_books, update_book
from book_catalog_client.api.token import create_token
from book_catalog_client.models import (
    BookChanges,
    BookEnvelope,
    BookInput,
    BooksEnvelope,
    EmptyEnvelope,
    Login,
    TokenEnvelope,
)

BASE_URL = sys.argv[1]
FAR_FUTURE = 3_000_000_000  # more than 32 bits

login = create_token.sync(client=Client(BASE_URL), body=Login(username="admin", password="password"))
assert isinstance(login, TokenEnvelope), login
catalog = AuthenticatedClient(BASE_URL, token=login.data.token, prefix="")

key = str(uuid4())
new_book = BookInput(title="Dune", year=FAR_FUTURE)
created = create_book.sync_detailed(client=catalog, body=new_book, idempotency_key=key)
replayed = create_book.sync_detailed(client=catalog, body=new_book, idempotency_key=key)
assert isinstance(created.parsed, BookEnvelope) and replayed.parsed == created.parsed, replayed
assert "Idempotency-Replayed" not in created.headers and replayed.headers["Idempotency-Replayed"] == "true"
book = created.parsed.data
assert (book.title, book.author, book.year) == ("Dune", "", FAR_FUTURE), book

ids = [book.id]
for _ in range(2):
    other = create_book.sync(client=catalog, body=BookInput())
    assert isinstance(other, BookEnvelope), other
    ids.append(other.data.id)
listed: list[int] = []
after: int | None = book.id - 1
while after is not None:
    page = list_books.sync_detailed(client=catalog, limit=2, after=after)
    assert isinstance(page.parsed, BooksEnvelope), page
    listed += [each.id for each in page.parsed.data]
    assert page.headers["Content-Encoding"] == "gzip", page
    link = page.headers.get("Link")
    after = int(parse_qs(link.split(">")[0].removeprefix("<?"))["after"][0]) if link else None
assert listed == ids, listed

tag = created.headers["ETag"]
unchanged = get_book.sync_detailed(book.id, client=catalog, if_none_match=tag)
assert (unchanged.status_code, unchanged.parsed) == (304, None), unchanged
changes = BookChanges(author="Frank Herbert")
updated = update_book.sync(book.id, client=catalog, body=changes, if_match=tag)
assert isinstance(updated, BookEnvelope) and updated.data.author == "Frank Herbert", updated
refused = update_book.sync(book.id, client=catalog, body=changes, if_match=tag)
assert isinstance(refused, EmptyEnvelope), refused
assert (refused.status, refused.message, refused.data) == (412, "Precondition failed", None), refused

deleted = delete_book.sync_detailed(book.id, client=catalog, if_match="*")
missing = delete_book.sync_detailed(book.id, client=catalog)
assert (deleted.status_code, missing.status_code) == (200, 404), missing
assert isinstance(missing.parsed, EmptyEnvelope) and missing.parsed.message == "Book not found", missing
for book_id in ids[1:]:
    delete_book.sync(book_id, client=catalog)
