import java.net.Authenticator;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.BooksApi;
import org.openapitools.client.api.TokenApi;
import org.openapitools.client.model.Book;
import org.openapitools.client.model.BookChanges;
import org.openapitools.client.model.Login;
import org.openapitools.client.model.NewBook;

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

    var newBook = new NewBook().title("Dune").year(FAR_FUTURE);
    String key = UUID.randomUUID().toString();
    var created = books.createBookWithHttpInfo(newBook, key);
    var replayed = books.createBookWithHttpInfo(newBook, key);
    Book book = created.getData().getData();
    long id = book.getId();
    expect(new Book().id(id).title("Dune").author("").year(FAR_FUTURE), book);
    expect(book, replayed.getData().getData());
    expect(null, created.getHeaders().get("Idempotency-Replayed"));
    expect(List.of("true"), replayed.getHeaders().get("Idempotency-Replayed"));

    expect(List.of(book), books.listBooks(1, id - 1).getData());

    String tag = created.getHeaders().get("ETag").get(0);
    var changes = new BookChanges().author("Frank Herbert");
    expect("Frank Herbert", books.updateBook(id, changes, tag).getData().getAuthor());
    expect(412, statusOf(() -> books.updateBook(id, changes, tag)));

    expect(null, books.deleteBook(id, "*").getData());
    expect(404, statusOf(() -> books.deleteBook(id, null)));

    // The JDK's client throws for a 401 without a challenge once it has an Authenticator.
    var authenticating = HttpClient.newBuilder().authenticator(new Authenticator() {}).build();
    var request = HttpRequest.newBuilder(URI.create(args[0] + "/books")).build();
    expect(401, authenticating.send(request, BodyHandlers.discarding()).statusCode());
  }

  private interface Call {
    void send() throws ApiException;
  }

  private static int statusOf(Call call) {
    try {
      call.send();
      return 200;
    } catch (ApiException error) {
      return error.getCode();
    }
  }

  private static void expect(Object expected, Object actual) {
    if (!Objects.equals(expected, actual)) {
      throw new AssertionError("expected " + expected + ", got " + actual);
    }
  }
}
