/** The reference page: Swagger UI with openapi.yaml, for the service that serves the page. */

const session = document.getElementById('session');
let expiryTimer;

/** Sends the token with every request until the page is closed or reloaded. */
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

/** The description with this service's address. */
function adapt({ info, servers, paths, components, ...rest }) {
  const origin = location.origin;
  const adaptOperation = ({ parameters = [], ...operation }) => ({
    ...operation,
    parameters: parameters.map((parameter) => withoutDefault(parameter, components.schemas)),
  });
  return {
    ...rest,
    components,
    info: { ...info, description: info.description.replaceAll(servers[0].url, origin) },
    servers: [{ url: origin }],
    paths: mapValues(paths, (path) =>
      mapValues(path, (member) => (Array.isArray(member) ? member : adaptOperation(member))),
    ),
  };
}

/** Swagger UI would send the default of a parameter that is not filled in. */
function withoutDefault(parameter, schemas) {
  const name = parameter.schema?.$ref?.split('/').at(-1);
  if (name === undefined) return parameter;
  const { default: _, ...schema } = schemas[name];
  return { ...parameter, schema };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

const updateJsonSpec = (update) => (api) => update(api.paths ? adapt(api) : api);

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

showSession(false, 'Not logged in: press Execute at “Log in”');

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
