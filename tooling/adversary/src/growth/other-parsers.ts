import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { oauth, pageRedirect } from '@x/auth/client'
import { protect } from '@x/auth/server'
import { createLedger } from '@x/core'
import { openPinFile, readGatewayFile } from '@x/gateway/node'
import { skills } from '@x/skills/server'
import { parseKeyLines, randomKey, sealedState } from '@x/state-codec'
import type { MeasuredParser } from './measure-growth.ts'
import { fill, kib, many, mib } from './inputs.ts'

const signal = new AbortController().signal

const resource = 'https://mcp.example.com/mcp'
const target = { url: new URL(resource), method: 'POST', signal }
const challenged = (header: string, fetch: (url: string) => Promise<Response>) => () => {
  const redirect = pageRedirect({ uri: 'http://localhost/callback' })
  const authorizer = oauth({ client: { id: 'a' }, redirect, fetch } as never)
  const head = { status: 401, header: (name: string) => (name === 'www-authenticate' ? header : undefined) }
  return authorizer.onResponse(head, target)
}
const json = (text: string): Response => new Response(text, { headers: { 'content-type': 'application/json' } })
const protection = protect({ resource, issuers: ['https://issuer.example'] })
const codec = sealedState({ keys: [randomKey()] })

const credentials: readonly MeasuredParser[] = [
  {
    name: 'challenge',
    bound: 8192,
    prepare: (size) =>
      challenged(fill('Bearer a="\\b", Basic c=d, ', size), () => Promise.reject(new Error('no network'))),
  },
  {
    name: 'metadata of a resource',
    bound: 64 * kib - 200,
    prepare: (size) =>
      challenged('Bearer', async () =>
        json(`{"resource":"${resource}","authorization_servers":[${many(size / 20, () => '"https://a.example"')}]}`),
      ),
  },
  {
    name: 'access token (JWT)',
    bound: 8192,
    prepare: (size) => {
      const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const claims = { iss: 'https://other.example', a: fill('text ', size * 0.7) }
      const token = `${part({ alg: 'RS256', typ: 'at+jwt' })}.${part(claims)}.AAAA`
      const headerValues = (name: string): string[] => (name === 'authorization' ? [`Bearer ${token}`] : [])
      const head = { method: 'POST', url: resource, source: undefined, headerValues }
      // Each rejected token would be a line of the log.
      const context = { ledger: createLedger(), callerKey: 'growth', report: () => {} }
      return () => protection.authenticate(head, context)
    },
  },
  {
    name: 'sealed token',
    bound: 32 * kib - 200,
    prepare: async (size) => {
      const token = await codec.seal({ a: fill('Ab-_cd9Z', size * 0.7) }, { purpose: 'growth' })
      return () => codec.open(token, { purpose: 'growth', reusable: true })
    },
  },
]

const folder = await mkdtemp(join(tmpdir(), 'growth-'))
async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  return path
}
const readSkill = (content: string) => () => skills({ files: [{ path: 'a/SKILL.md', content }] })
const skill = (yaml: string): string => `---\nname: a\ndescription: b\n${yaml}\n---\ntext`

const files: readonly MeasuredParser[] = [
  {
    name: 'frontmatter of a skill: keys',
    bound: 64 * kib - 100,
    prepare: (size) => readSkill(skill(many(size / 10, (index) => `k${String(index).padStart(5, '0')}: 1`, '\n'))),
  },
  {
    name: 'frontmatter of a skill: lists and quotes',
    bound: 64 * kib - 100,
    prepare: (size) => readSkill(skill(`a: [${'"b\\n", {c: d}, '.repeat(size / 15)}]`)),
  },
  {
    name: 'skill without an end of its frontmatter',
    bound: 15 * mib,
    prepare: (size) => readSkill(`---\n${fill('--- a\n', size)}`),
  },
  {
    name: 'pins',
    bound: mib,
    prepare: async (size) => {
      const digests = many(size / 80, (index) => `"tool${index}":"${'a'.repeat(64)}"`)
      const path = await fileOf(`pins-${size}.json`, `{"crm":{${digests}}}`)
      return () => openPinFile(path).storeOf('crm').get('tool1')
    },
  },
  {
    name: 'gateway file',
    bound: mib,
    prepare: async (size) => {
      const upstreams = many(size / 40, (index) => `"u${index}":{"url":"https://a.example"}`)
      const path = await fileOf(`gateway-${size}.json`, `{"name":"a","upstreams":{${upstreams}}}`)
      return () => readGatewayFile(path, {})
    },
  },
  { name: 'keys file', bound: 64 * kib, prepare: (size) => () => parseKeyLines(fill(`${'Ab9-'.repeat(11)}\n`, size)) },
]

/** The parsers of credentials and of files. */
export const otherParsers: readonly MeasuredParser[] = [...credentials, ...files]
