/**
 * Part of the reference page, in the browser: keeps the token of the last login in memory, and sends it with requests
 * that have none, so that nobody has to copy it.
 *
 * @param {string} baseUrl - the service
 */
globalThis.keepToken = (baseUrl) => {
  const send = window.fetch.bind(window);
  let token;
  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.startsWith(`${baseUrl}/`)) return send(request);
    const isLogin = request.method === 'POST' && request.url === `${baseUrl}/token`;
    if (token !== undefined && !isLogin && !request.headers.get('Authorization')) {
      request.headers.set('Authorization', token);
    }
    const response = await send(request);
    if (isLogin && response.ok) token = (await response.clone().json()).data.token;
    return response;
  };
};
