// A session with the client that oapi-codegen generates: session BASE_URL.
package main

import (
	"context"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"clients/catalog"
)

// More than 32 bits.
const farFuture = int64(3_000_000_000)

func main() {
	ctx := context.Background()
	username, password := "admin", "password"
	anonymous := must(catalog.NewClientWithResponses(os.Args[1]))
	login := must(anonymous.CreateTokenWithResponse(ctx, catalog.Login{Username: &username, Password: &password}))
	token := login.JSON200.Data.Token
	setToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", token)
		return nil
	}
	client := must(catalog.NewClientWithResponses(os.Args[1], catalog.WithRequestEditorFn(setToken)))

	key, title, year := strconv.FormatInt(time.Now().UnixNano(), 10), "Dune", farFuture
	withKey := &catalog.CreateBookParams{IdempotencyKey: &key}
	created := must(client.CreateBookWithResponse(ctx, withKey, catalog.BookInput{Title: &title, Year: &year}))
	replayed := must(client.CreateBookWithResponse(ctx, withKey, catalog.BookInput{Title: &title, Year: &year}))
	book := created.JSON201.Data
	check(book.Title == title && book.Author == "" && book.Year == farFuture, "the created book", book)
	check(replayed.JSON201.Data == book, "the replayed book", replayed.JSON201)
	check(created.Headers201.IdempotencyReplayed == nil, "the first response is marked", created.Headers201)
	check(*replayed.Headers201.IdempotencyReplayed == "true", "the replay is not marked", replayed.Headers201)
	check(replayed.Headers201.Location == "/book/"+strconv.FormatInt(book.Id, 10), "Location", replayed.Headers201)

	ids := []int64{book.Id}
	for range 2 {
		other := must(client.CreateBookWithResponse(ctx, nil, catalog.BookInput{}))
		ids = append(ids, other.JSON201.Data.Id)
	}
	limit, after, listed := 2, book.Id-1, []int64{}
	for isLast := false; !isLast; {
		page := must(client.ListBooksWithResponse(ctx, &catalog.ListBooksParams{Limit: &limit, After: &after}))
		for _, each := range page.JSON200.Data {
			listed = append(listed, each.Id)
		}
		link := page.Headers200.Link
		if isLast = link == nil; !isLast {
			next := must(url.Parse(strings.TrimSuffix(strings.TrimPrefix(*link, "<"), `>; rel="next"`)))
			after = must(strconv.ParseInt(next.Query().Get("after"), 10, 64))
		}
	}
	check(slices.Equal(listed, ids), "the pages", listed)

	ifNoneMatch := &catalog.GetBookParams{IfNoneMatch: &created.Headers201.ETag}
	unchanged := must(client.GetBookWithResponse(ctx, book.Id, ifNoneMatch))
	check(unchanged.StatusCode() == 304 && unchanged.JSON200 == nil, "the unchanged book", unchanged.Status())

	author := "Frank Herbert"
	ifMatch := &catalog.UpdateBookParams{IfMatch: &created.Headers201.ETag}
	updated := must(client.UpdateBookWithResponse(ctx, book.Id, ifMatch, catalog.BookChanges{Author: &author}))
	check(updated.JSON200.Data.Author == author, "the update", updated.JSON200)
	refused := must(client.UpdateBookWithResponse(ctx, book.Id, ifMatch, catalog.BookChanges{Author: &author}))
	check(refused.JSON412.Message == "Precondition failed", "the refused update", refused.Status())

	anyTag := "*"
	deleted := must(client.DeleteBookWithResponse(ctx, book.Id, &catalog.DeleteBookParams{IfMatch: &anyTag}))
	missing := must(client.DeleteBookWithResponse(ctx, book.Id, nil))
	check(deleted.JSON200.Data == nil, "the deletion", deleted.Status())
	check(missing.JSON404.Message == "Book not found", "the deletion of a missing book", missing.Status())
	for _, id := range ids[1:] {
		must(client.DeleteBookWithResponse(ctx, id, nil))
	}
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
