/** The reference page: Swagger UI with openapi.yaml, for the service that serves the page. */

/* global SwaggerUIBundle */

/** A request header that browsers set themselves and let no page set. */
const browserHeader = 'Accept-Encoding';

const session = document.getElementById('session');
let expiryTimer;

/** Has every request from here on carry the token, which stays in memory until the page is closed or reloaded. */
function logIn(token) {
  const { exp } = JSON.parse(atob(token.split('.')[1]));
  const expiry = new Date(exp * 1000);
  ui.preauthorizeApiKey('token', token);
  showSession(true, `Logged in until ${expiry.toLocaleTimeString()}`);
  clearTimeout(expiryTimer);
  expiryTimer = setTimeout(logOut, expiry - Date.now());
}

function logOut() {
  ui.authActions.logout(['token']);
  showSession(false, 'The token has expired: log in again');
}

function showSession(isLoggedIn, text) {
  session.classList.toggle('logged-in', isLoggedIn);
  session.textContent = text;
}

/** The description of this service, with what a page can send. */
function adapt(description) {
  const { info, servers, paths, components } = description;
  const text = info.description.replaceAll(servers[0].url, location.origin);
  const adaptOperation = ({ parameters, ...operation }) => ({
    ...operation,
    ...(parameters && {
      parameters: parameters
        .filter(({ name }) => name !== browserHeader)
        .map((parameter) => withoutDefault(parameter, components.schemas)),
    }),
  });
  return {
    ...description,
    info: { ...info, description: text },
    servers: [{ url: location.origin }],
    paths: mapValues(paths, (item) =>
      mapValues(item, (operation) => (Array.isArray(operation) ? operation : adaptOperation(operation))),
    ),
  };
}

/** Swagger UI would send the default of a parameter that nobody filled in. */
function withoutDefault(parameter, schemas) {
  const name = parameter.schema?.$ref?.split('/').at(-1);
  if (name === undefined) return parameter;
  const { default: _, ...schema } = schemas[name];
  return { ...parameter, schema };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

const thisService = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (description) =>
          update(description.paths ? adapt(description) : description),
      },
    },
  },
});

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

showSession(false, 'Not logged in: press Execute at “Log in”');

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  plugins: [thisService],
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
