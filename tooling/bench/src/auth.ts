import { createServer as createHttpServer } from 'node:http'
import { protect } from '@x/auth/server'
import { createServer } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type Call, echoCall } from './http/call.ts'
import { echoTool } from './http/echo-tool.ts'
import type { LoadAnswer, LoadQuestion } from './http/load.ts'
import { pinThisProcess, startPinned } from './pinned-process.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf, spreadText } from './alternating-rounds.ts'

/**
 * Measures the CPU time of the server that a verified and cached token adds to a call.
 *
 * Method: one process serves the same tool twice over HTTP on loopback addresses, once unprotected and once protected.
 * A separate process sends the load over eight connections, with one token of 700 bytes (RS256, verified in the
 * warm-up). The servers alternate in slices of 0.2 seconds. The result is the CPU time of this process per call, as the
 * median over the slices of a round. The ratio is formed within each of five rounds. The plain server is measured with
 * and without the header, because receiving the header costs CPU time too. Not measured: the first verification of a
 * token, introspection, proofs of possession.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const resource = 'https://mcp.example.com/mcp'
  await using issuer = await startIssuer(resource)
  const server = createServer({ name: 'bench', version: '1.0.0', tools: [echoTool] })
  await using plain = await serveHttp(server)
  await using guarded = await serveHttp(server, {
    auth: protect({ resource, issuers: [issuer.url], scopes: ['items:read'] }),
  })
  pinThisProcess(0)
  const load = await startPinned<LoadQuestion, LoadAnswer>('http/short-load-client.js', 1)
  const headers = { ...echoCall.headers, authorization: `Bearer ${issuer.token}` }
  const targets: readonly Target[] = [
    { name: 'plain', server: plain, call: echoCall },
    { name: 'plain, with the header', server: plain, call: { ...echoCall, headers } },
    { name: 'protected', server: guarded, call: { ...echoCall, headers } },
  ]
  const slices = quick ? 2 : 30
  const measure = ({ server: { url }, call }: Target) =>
    cpuOf(() => load.ask({ url, call, connections: 8, seconds: sliceSeconds }))
  try {
    await measureRounds(targets, 2, measure)
    const rounds: Round<number>[] = []
    for (let round = 0; round < 5; round += 1) rounds.push(mediansOf(await measureRounds(targets, slices, measure)))
    for (const { name } of targets) printShare(rounds, name, 'plain')
    printShare(rounds, 'protected', 'plain, with the header')
  } finally {
    await load.stop()
  }
}

const sliceSeconds = 0.2

function printShare(rounds: readonly Round<number>[], name: string, base: string): void {
  const share = { name, base, of: (micros: number) => micros }
  const percent = (shareOf(rounds, share) * 100).toFixed(1)
  const title = `${name}, of ${base}`
  process.stdout.write(`  ${title.padEnd(46)}${percent.padStart(7)} % ${spreadText(sharesOf(rounds, share))}\n`)
}

/** Returns one round with the medians of many slices, because other work of the machine occurs in bursts. */
function mediansOf(slices: readonly Round<number>[]): Round<number> {
  const names = [...(slices[0]?.keys() ?? [])]
  return new Map(names.map((name) => [name, medianOf(slices, name, (micros) => micros)]))
}

interface Target {
  readonly name: string
  readonly server: HttpServer
  readonly call: Call
}

/** Returns the microseconds of CPU that this process uses per call. */
async function cpuOf(load: () => Promise<LoadAnswer>): Promise<number> {
  const before = process.cpuUsage()
  const { requests, failures } = await load()
  const { user, system } = process.cpuUsage(before)
  if (failures > 0 || requests === 0) throw new Error(`${failures} of ${requests} calls failed`)
  return (user + system) / requests
}

interface Issuer extends AsyncDisposable {
  readonly url: string
  readonly token: string
}

async function startIssuer(audience: string): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key', alg: 'RS256', use: 'sig' }
  const server = createHttpServer(({ url }, response) => {
    const answer = url === '/jwks' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/jwks` }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const claims = { scope: 'items:read', client_id: 'bench-client', jti: 'j'.repeat(40) }
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'key', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setSubject('ada')
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(privateKey)
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: issuer, token, [Symbol.asyncDispose]: close }
}
