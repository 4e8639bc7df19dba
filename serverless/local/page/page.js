/** The reference page: Swagger UI with openapi.yaml. */

/** Gives the token of a login to all requests that follow, also after the page is loaded again. */
function useToken(response) {
  if (response.ok && response.url === `${location.origin}/token`) {
    ui.preauthorizeApiKey('token', JSON.parse(response.text).data.token);
    ui.authActions.persistAuthorizationIfNeeded();
  }
  return response;
}

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  responseInterceptor: useToken,
});

// Swagger UI's stylesheet is dark under this class.
const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
followScheme();
darkScheme.onchange = followScheme;
