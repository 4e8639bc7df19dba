import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.BooksApi;
import org.openapitools.client.api.TokenApi;
import org.openapitools.client.model.Book;
import org.openapitools.client.model.BookChanges;
import org.openapitools.client.model.Login;
import org.openapitools.client.model.BookInput;

/** A session with the client that OpenAPI Generator makes: Session BASE_URL. */
public class Session {
  private static final long FAR_FUTURE = 3_000_000_000L; // more than 32 bits

  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(args[0]);
    var login = new TokenApi(client).createToken(new Login().username("admin").password("password"));
    String token = login.getData().getToken();
    client.setRequestInterceptor(request -> request.header("Authorization", token));
    var books = new BooksApi(client);

    var newBook = new BookInput().title("Dune").year(FAR_FUTURE);
    String key = UUID.randomUUID().toString();
    var created = books.createBookWithHttpInfo(newBook, key);
    var replayed = books.createBookWithHttpInfo(newBook, key);
    Book book = created.getData().getData();
    long id = book.getId();
    assert List.of(book.getTitle(), book.getAuthor(), book.getYear()).equals(List.of("Dune", "", FAR_FUTURE)) : book;
    assert book.equals(replayed.getData().getData()) : replayed.getData();
    assert created.getHeaders().get("Idempotency-Replayed") == null : created.getHeaders();
    assert replayed.getHeaders().get("Idempotency-Replayed").equals(List.of("true"));

    var ids = new ArrayList<>(List.of(id));
    for (int i = 0; i < 2; i++) ids.add(books.createBook(new BookInput(), null).getData().getId());
    var listed = new ArrayList<Long>();
    for (Long after = id - 1; after != null; ) {
      var page = books.listBooksWithHttpInfo(2, after);
      for (Book each : page.getData().getData()) listed.add(each.getId());
      var link = page.getHeaders().getOrDefault("Link", List.of()).stream().findFirst();
      after = link.map(text -> Long.valueOf(text.replaceAll(".*after=(\\d+)>; rel=\"next\"", "$1"))).orElse(null);
    }
    assert listed.equals(ids) : listed;

    String tag = created.getHeaders().get("ETag").get(0);
    assert statusOf(() -> books.getBook(id, tag)) == 304;

    var changes = new BookChanges().author("Frank Herbert");
    assert books.updateBook(id, changes, tag).getData().getAuthor().equals("Frank Herbert");
    assert statusOf(() -> books.updateBook(id, changes, tag)) == 412;

    assert books.deleteBook(id, "*").getData() == null;
    assert statusOf(() -> books.deleteBook(id, null)) == 404;
    for (long other : ids.subList(1, 3)) books.deleteBook(other, null);
  }

  private static int statusOf(Callable<?> call) throws Exception {
    try {
      call.call();
      return 200;
    } catch (ApiException error) {
      return error.getCode();
    }
  }
}
