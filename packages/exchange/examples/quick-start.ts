import { createCall, type Exchange, type Middleware, serverOf } from '@x/exchange'

const greet: Exchange = async ({ id }) => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', content: [{ type: 'text', text: 'Hello!' }] },
})

const timing: Middleware = (next) => async (request, call) => {
  const start = performance.now()
  const response = await next(request, call)
  console.log(`${request.method} took ${Math.ceil(performance.now() - start)} ms`)
  return response
}

const info = { name: 'greeter', version: '1.0.0' }
const server = serverOf(greet, { info, localOnly: undefined, use: [timing] })
const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet' } } as const
console.log(await server.exchange(request, createCall()))
