import { findFreePort } from '@tooling/real-servers/free-port'
import { startAuthServer } from '@tooling/auth-server'
import { describeNeeding } from '@tooling/vitest/needs'
import { isJsonObject } from '@x/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from './asking.ts'
import { type Served, serveOfficialTools, serveOlder, serveOurs, serveProtectedBy } from './examined-servers.ts'
import { buildMcpx, type Mcpx } from './mcpx.ts'
import { compressingCaddy, haproxy, nginx, type ProxyKind, startProxy } from './proxies.ts'
import { everythingOverHttp, fastmcpOverHttp } from './older-server-peers.ts'

let mcpx: Mcpx
beforeAll(async () => {
  mcpx = await buildMcpx()
})
afterAll(() => mcpx?.[Symbol.asyncDispose]())

interface Examination {
  readonly code: number | null
  /** The ids of the checks that found a problem. */
  readonly wrong: readonly string[]
  readonly skipped: readonly string[]
  /** The findings, by the id of the check. */
  readonly found: Readonly<Record<string, string>>
}

async function examine(url: string, ...args: readonly string[]): Promise<Examination> {
  const { code, json } = await mcpx.run('doctor', url, ...args)
  const checks = Array.isArray(json['checks']) ? json['checks'].filter(isJsonObject) : []
  const idsOf = (status: string): readonly string[] =>
    checks.filter((check) => check['status'] === status).map(({ id }) => String(id))
  const found = Object.fromEntries(checks.map(({ id, found, change = '' }) => [String(id), `${found} ${change}`]))
  return { code, wrong: idsOf('wrong'), skipped: idsOf('skipped'), found }
}

const asking = ['--tool', 'resolve', '--args', '{"id":17}'] as const

/** Directives with which a proxy forwards everything unchanged. HAProxy needs none. */
const rightDirectives: Readonly<Record<ProxyKind['name'], string>> = {
  nginx: 'proxy_set_header Host $http_host; proxy_http_version 1.1; client_max_body_size 4m;',
  haproxy: '',
  caddy: '',
}

/** A fault in the configuration of a proxy, and the checks that report it. */
interface PlantedFault {
  readonly what: string
  readonly directives: string
  readonly wrong: readonly string[]
  /** A pattern that the finding matches. */
  readonly finding: RegExp
}

const faults: Readonly<Record<ProxyKind['name'], readonly PlantedFault[]>> = {
  nginx: [
    {
      what: 'does not forward the Host',
      directives: 'proxy_http_version 1.1;',
      wrong: ['own-host'],
      finding: /proxy_set_header Host/,
    },
    {
      what: 'removes Mcp-Method',
      directives: `${rightDirectives.nginx} proxy_set_header Mcp-Method "";`,
      wrong: ['headers'],
      finding: /pass on Mcp-Method/,
    },
    {
      what: 'buffers streams',
      // Without the chunked coding of HTTP/1.1, nginx waits until its buffer is full.
      directives: 'proxy_set_header Host $http_host; proxy_ignore_headers X-Accel-Buffering; client_max_body_size 4m;',
      wrong: ['stream'],
      finding: /proxy_buffering off/,
    },
    {
      what: 'closes each connection',
      directives: `${rightDirectives.nginx} keepalive_timeout 0;`,
      wrong: ['keep-alive'],
      finding: /keep-alive/,
    },
  ],
  haproxy: [
    {
      what: 'replaces the Host',
      directives: 'http-request set-header Host inner',
      wrong: ['own-host'],
      finding: /Host on/,
    },
    {
      what: 'buffers streams',
      directives: 'http-response wait-for-body time 15s at-least 1m',
      wrong: ['stream'],
      finding: /buffering of the proxy off/,
    },
  ],
  caddy: [],
}

type Opened = readonly [name: string, open: () => Promise<Served>, wrong: readonly string[]]

// A run of the doctor mostly waits: for streams that say nothing, and for connections that are kept open.
describe.concurrent('of a server or a proxy', () => {
  const known: readonly Opened[] = [
    ['the official SDK', serveOfficialTools, ['host', 'origin']],
    ['fastmcp', () => serveOlder(fastmcpOverHttp), ['discover', 'host', 'origin', 'depth']],
    ['server-everything', () => serveOlder(everythingOverHttp), ['discover', 'host', 'origin']],
  ]
  test.each(known)('the server of %s has its known problems [OPS-011]', async (_, open, expected) => {
    await using served = await open()
    const { code, wrong, found } = await examine(served.url)
    expect([code, wrong, found]).toEqual([1, expected, found])
  })

  test('our server has no problem, and only the checks of pages and tokens are skipped [OPS-011]', async () => {
    await using http = await serveOurs(keys.first)
    const { code, wrong, skipped } = await examine(http.url, ...asking)
    expect([code, wrong, skipped]).toEqual([0, [], ['auth', 'cors']])
  })

  for (const kind of [nginx, haproxy]) {
    describeNeeding(kind.name, `behind ${kind.name}`, (program) => {
      test('that forwards everything, no problem is found [OPS-011]', async () => {
        await using first = await serveOurs(keys.first)
        await using second = await serveOurs(keys.first)
        const ports = [first.port, second.port]
        await using proxy = await startProxy(program, kind, { ports, directives: rightDirectives[kind.name] })
        const { code, wrong, skipped, found } = await examine(proxy.url, ...asking)
        expect([code, wrong, skipped, found]).toEqual([0, [], ['auth', 'cors'], found])
      })

      test.each(faults[kind.name])('that $what, only that fault is reported [OPS-011]', async (fault) => {
        await using http = await serveOurs(keys.first)
        await using proxy = await startProxy(program, kind, { ports: [http.port], directives: fault.directives })
        const { code, wrong, found } = await examine(proxy.url, ...asking)
        expect([code, wrong, found]).toEqual([1, fault.wrong, found])
        expect(found[fault.wrong[0] ?? '']).toMatch(fault.finding)
      })
    })
  }
  describeNeeding('nginx', 'behind nginx', (program) => {
    test('whose instances have different keys, only that fault is reported [OPS-011]', async () => {
      await using first = await serveOurs(keys.first)
      await using second = await serveOurs(keys.second)
      const ports = [first.port, second.port]
      await using proxy = await startProxy(program, nginx, { ports, directives: rightDirectives.nginx })
      const { code, wrong, found } = await examine(proxy.url, ...asking)
      expect([code, wrong]).toEqual([1, ['rounds']])
      expect(found['rounds']).toMatch(/rejected on [1-7] of 8 connections.*same keys/)
    })
  })

  describeNeeding('caddy', 'behind Caddy', (program) => {
    test('that compresses events for hosts, only that fault is reported [OPS-011]', async () => {
      await using http = await serveOurs(keys.first)
      const directives = 'minimum_length 512'
      await using proxy = await startProxy(program, compressingCaddy, { ports: [http.port], directives })
      const { code, wrong, found } = await examine(proxy.url, ...asking)
      expect([code, wrong, found]).toEqual([1, ['stream'], found])
      expect(found['stream']).toMatch(/compress JSON alone/)
    })
  })

  test('a server with a real issuer has no problem, and its faults of authorization are reported [OPS-011]', async () => {
    await using issuer = await startAuthServer({ resources: [] })
    const spellings = [
      [issuer.issuer, /A client finds the issuer/],
      [`${issuer.issuer}/`, /calls itself .* own spelling/],
      [`http://127.0.0.1:${await findFreePort()}`, /has no metadata/],
    ] as const
    for (const [spelling, finding] of spellings) {
      await using http = await serveProtectedBy(spelling)
      const { wrong, found } = await examine(http.url)
      expect(found['auth']).toMatch(finding)
      // A server whose issuer is unreachable is not ready.
      expect(wrong.filter((id) => id !== 'health')).toEqual(spelling === issuer.issuer ? [] : ['auth'])
      if (spelling !== issuer.issuer) continue
      const rejected = await examine(http.url, '--token', 'expired')
      expect(rejected.found['auth']).toMatch(/The server rejects the token/)
    }
  })

  test('metadata for another resource and a challenge without metadata are reported [OPS-011]', async () => {
    await using http = await serveProtectedBy('http://127.0.0.1:1', '/other')
    expect((await examine(http.url)).found['auth']).toMatch(/metadata are of the resource .*\/other/)
    const auth = () => ({ status: 401, message: 'A token is required', headers: { 'WWW-Authenticate': 'Bearer' } })
    await using bare = await serveOurs(keys.first, { auth })
    expect((await examine(bare.url)).found['auth']).toMatch(/no resource_metadata/)
  })

  test('a port without a server is one problem, and all other checks are skipped [OPS-011]', async () => {
    const { code, wrong, skipped } = await examine(`http://127.0.0.1:${await findFreePort()}/mcp`)
    expect([code, wrong, skipped.length]).toEqual([1, ['reach'], 19])
  })

  test('another path of the server is a problem of reach', async () => {
    await using http = await serveOurs(keys.first)
    const { wrong, found } = await examine(http.url.replace('/mcp', '/api'))
    expect([wrong, found['reach']]).toEqual([['reach'], expect.stringContaining('Check the path')])
  })
})
