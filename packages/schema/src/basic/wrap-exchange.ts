import type { Exchange } from './exchange.ts'

/**
 * Puts an exchange around another one, that tells of itself what the inner one does: a connection's `url` and `close`, a server's
 * `update` and `load`. What is looked up is what the inner one has at that moment.
 *
 * @example
 * const watched = wrapExchange(server, async (request, call) => {
 *   console.log(request.method)
 *   return server(request, call)
 * })
 */
export function wrapExchange<E extends Exchange>(inner: E, around: Exchange): E {
  return new Proxy(inner, { apply: (_inner, _this, [request, call]) => around(request, call) })
}
