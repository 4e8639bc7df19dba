// A session with the client that ogen generates: session BASE_URL.
package main

import (
	"context"
	"log"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"clients/catalog"
)

// More than 32 bits.
const farFuture = 3_000_000_000

type credentials struct{ token string }

func (c credentials) Token(context.Context, catalog.OperationName) (catalog.Token, error) {
	return catalog.Token{APIKey: c.token}, nil
}

func main() {
	ctx := context.Background()
	anonymous := must(catalog.NewClient(os.Args[1], credentials{}))
	admin := &catalog.Login{Username: catalog.NewOptString("admin"), Password: catalog.NewOptString("password")}
	login := must(anonymous.CreateToken(ctx, admin)).(*catalog.TokenEnvelope)
	client := must(catalog.NewClient(os.Args[1], credentials{login.Data.Token}))

	key := catalog.NewOptString(strconv.FormatInt(time.Now().UnixNano(), 10))
	create := func(params catalog.CreateBookParams) *catalog.BookEnvelopeHeaders {
		input := &catalog.BookInput{Title: catalog.NewOptString("Dune"), Year: catalog.NewOptInt64(farFuture)}
		return must(client.CreateBook(ctx, input, params)).(*catalog.BookEnvelopeHeaders)
	}
	created := create(catalog.CreateBookParams{IdempotencyKey: key})
	replayed := create(catalog.CreateBookParams{IdempotencyKey: key})
	book := created.Response.Data
	check(book.Title == "Dune" && book.Author == "" && book.Year == farFuture, "the created book", book)
	check(replayed.Response.Data.ID == book.ID && replayed.IdempotencyReplayed.Value == "true", "the replay", replayed)

	ids := []catalog.BookId{book.ID}
	for range 2 {
		ids = append(ids, create(catalog.CreateBookParams{}).Response.Data.ID)
	}
	listed, after := []catalog.BookId{}, catalog.NewOptAfter(catalog.After(book.ID-1))
	for isLast := false; !isLast; {
		params := catalog.ListBooksParams{Limit: catalog.NewOptLimit(2), After: after}
		page := must(client.ListBooks(ctx, params)).(*catalog.BooksEnvelopeHeaders)
		for _, each := range page.Response.Data {
			listed = append(listed, each.ID)
		}
		if isLast = !page.Link.Set; !isLast {
			next := must(url.Parse(strings.TrimSuffix(strings.TrimPrefix(page.Link.Value, "<"), `>; rel="next"`)))
			after = catalog.NewOptAfter(catalog.After(must(strconv.Atoi(next.Query().Get("after")))))
		}
	}
	check(slices.Equal(listed, ids), "the pages", listed)

	tag := catalog.NewOptString(created.ETag)
	unchanged := must(client.GetBook(ctx, catalog.GetBookParams{IfNoneMatch: tag, ID: book.ID}))
	_, isUnchanged := unchanged.(*catalog.GetBookNotModified)
	check(isUnchanged, "the unchanged book", unchanged)

	changes := &catalog.BookChanges{Author: catalog.NewOptString("Frank Herbert")}
	params := catalog.UpdateBookParams{IfMatch: tag, ID: book.ID}
	_, isUpdated := must(client.UpdateBook(ctx, changes, params)).(*catalog.GetBookOKHeaders)
	refused, isRefused := must(client.UpdateBook(ctx, changes, params)).(*catalog.UpdateBookPreconditionFailed)
	check(isUpdated && isRefused && refused.Data.Null, "the refused update", refused)

	for _, id := range ids {
		_, isDeleted := must(client.DeleteBook(ctx, catalog.DeleteBookParams{ID: id})).(*catalog.DeleteBookOK)
		check(isDeleted, "the deletion", id)
	}
	missing := must(client.GetBook(ctx, catalog.GetBookParams{ID: book.ID}))
	check(missing.(*catalog.GetBookNotFound).Message == "Book not found", "the missing book", missing)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(isTrue bool, what string, actual any) {
	if !isTrue {
		log.Fatalf("%s: %+v", what, actual)
	}
}
