/** The reference page: Swagger UI with openapi.yaml, for the service that serves the page. */

const session = document.getElementById('session');

/** Sends the token with every request until the page is closed or reloaded. */
function logIn(token) {
  const { exp } = JSON.parse(atob(token.split('.')[1]));
  ui.preauthorizeApiKey('token', token);
  session.textContent = `Logged in until ${new Date(exp * 1000).toLocaleTimeString()}`;
}

/** Gives the description this service's address. */
function adapt(api) {
  const { origin } = location;
  api.info.description = api.info.description.replaceAll(api.servers[0].url, origin);
  api.servers = [{ url: origin }];
  // Otherwise Swagger UI sends the default when the parameter is empty.
  delete api.components.schemas.After.default;
  return api;
}

const updateJsonSpec = (update) => (api) => update(api.paths ? adapt(api) : api);

const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.classList.toggle('dark-mode', isDark);
session.textContent = 'Not logged in: press Execute at “Log in”';

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  plugins: [() => ({ statePlugins: { spec: { wrapActions: { updateJsonSpec } } } })],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  responseInterceptor: (response) => {
    const isLogin = response.url === `${location.origin}/token` && response.ok;
    if (isLogin) logIn(JSON.parse(response.text).data.token);
    return response;
  },
});
