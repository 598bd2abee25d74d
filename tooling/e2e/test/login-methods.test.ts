import { connect } from 'node:net'
import { userLogin } from '@x/auth/login'
import { loginPages } from '@x/auth/node'
import { protect } from '@x/auth/server'
import { createServer } from '@x/server'
import { memoryStore, randomKey } from '@x/state-codec'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'

const methods = ['TRACE', 'POST', 'HEAD'] as const

test.each(methods.flatMap((method) => ['/login', '/mcp', '/'].map((path): [string, string] => [method, path])))(
  '%s %s of any client leaves a server with loginPages running [ROB-003]',
  async (method, path) => {
    const origin = 'http://127.0.0.1:3000'
    const protection = protect({ resource: `${origin}/mcp`, issuers: ['http://127.0.0.1:9'] })
    const client = { name: 'gateway' }
    const keys = [randomKey()]
    const logins = userLogin({ url: `${origin}/login`, protection, client, store: memoryStore(), keys })
    const server = createServer({ name: 'demo', version: '1.0.0', state: false })
    await using http = await serveHttp(server, { auth: protection, onRequest: loginPages(logins) })
    const status = await requestStatus(http.port, `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${http.port}`)
    expect(status).toBe({ '/login': 405, '/mcp': method === 'POST' ? 415 : 405, '/': 404 }[path])
    expect(await requestStatus(http.port, 'GET /healthz HTTP/1.1\r\nHost: x')).toBe(200)
  },
)

/** Sends any request, also one that `fetch` refuses to send. */
function requestStatus(port: number, head: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\nContent-Length: 0\r\n\r\n`))
    socket.on('error', reject).once('data', (bytes) => {
      socket.destroy()
      resolve(Number(String(bytes).split(' ')[1]))
    })
  })
}
