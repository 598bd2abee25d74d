import { createServer, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** Starts a round-robin balancer. If an instance accepts no connection, the request goes to the next one. */
export function startBalancer(instances, onRequest) {
  let turn = 0
  const balancer = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    const forward = (attemptsLeft) => {
      const instance = instances[turn++ % instances.length]
      const { method, url: path, headers } = incoming
      const forwarded = request({ port: instance.port, method, path, headers }, (response) => {
        onRequest(instance)
        outgoing.writeHead(response.statusCode, response.headers)
        response.pipe(outgoing)
      })
      forwarded.on('error', () => (attemptsLeft > 0 ? forward(attemptsLeft - 1) : outgoing.writeHead(502).end()))
      forwarded.end(body)
    }
    forward(instances.length - 1)
  })
  return new Promise((resolve) => balancer.listen(0, '127.0.0.1', () => resolve(balancer)))
}
