/** The reference page: Swagger UI with openapi.yaml, for the service that serves the page. */

const login = document.getElementById('login');
const session = document.getElementById('session');

/** Sends the token with every request of this tab, also after a reload. */
function useToken(token) {
  const { exp } = JSON.parse(atob(token.split('.')[1]));
  ui.preauthorizeApiKey('token', token);
  sessionStorage.setItem('token', token);
  session.textContent = `Logged in until ${new Date(exp * 1000).toLocaleTimeString()}`;
}

function forgetToken(reason) {
  ui.authActions.logout(['token']);
  sessionStorage.removeItem('token');
  session.textContent = `Not logged in: ${reason}`;
}

login.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = JSON.stringify(Object.fromEntries(new FormData(login)));
  try {
    const response = await fetch('/token', { method: 'POST', body });
    const { message, data } = await response.json();
    if (response.ok) useToken(data.token);
    else forgetToken(message);
  } catch {
    forgetToken('the service does not respond');
  }
});

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

/** What Swagger UI leaves out for people without a mouse or a screen, by the selector of its element. */
const attributes = {
  '.body-param textarea': { 'aria-label': 'Request body' },
  '.examples-select select': { 'aria-label': 'Example' },
  '.curl-command .curl, .live-responses-table .highlight-code > *': { tabindex: '0' },
};

function addAttributes() {
  for (const [selector, added] of Object.entries(attributes)) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(added)) element.setAttribute(name, value);
    }
  }
}
new MutationObserver(addAttributes).observe(document.getElementById('reference'), { childList: true, subtree: true });

const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.classList.toggle('dark-mode', isDark);

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  plugins: [() => ({ statePlugins: { spec: { wrapActions: { updateJsonSpec } } } })],
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'obsidian' },
  validatorUrl: null,
  onComplete: () => {
    const token = sessionStorage.getItem('token');
    if (token === null) session.textContent = 'Not logged in';
    else useToken(token);
  },
  responseInterceptor: (response) => {
    const isLogin = response.url === `${location.origin}/token`;
    if (isLogin && response.ok) useToken(JSON.parse(response.text).data.token);
    if (!isLogin && response.status === 401) forgetToken(JSON.parse(response.text).message);
    return response;
  },
});
