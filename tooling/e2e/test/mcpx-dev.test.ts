import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { findFreePort } from '@tooling/real-servers/free-port'
import { startAuthServer } from '@tooling/auth-server'
import { protect } from '@x/auth/server'
import { expect, test } from 'vitest'
import { keys } from './asking.ts'
import { serveOurs } from './examined-servers.ts'
import { buildMcpx } from './mcpx.ts'

const loginPattern = /"type":"login","url":"([^"]+)"/

test('mcpx dev says that the server waits for a login, with its link, and is ready once the user has followed it', async () => {
  await using mcpx = await buildMcpx()
  const port = await findFreePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  await using issuer = await startAuthServer({ resources: [{ resource, scopes: ['items:read'] }] })
  const auth = protect({ resource, issuers: [issuer.issuer], scopes: ['items:read'] })
  await using _ = await serveOurs(keys.first, { port, auth })
  // The command stores the login.
  const env = { ...process.env, XDG_CONFIG_HOME: dirname(mcpx.path) }
  const dev = spawn(process.execPath, [mcpx.path, 'dev', resource, '--port', '0'], { env })
  const lines: string[] = []
  const output = createInterface({ input: dev.stdout }).on('line', (line) => lines.push(line))
  const [line] = await once(output, 'line')
  const { origin, hash } = new URL(String(line).replace('page', '').trim())
  const events = await fetch(`${origin}/api/events`, { headers: { authorization: `Bearer ${hash.slice(1)}` } })
  let text = ''
  for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const [, knownLink] = loginPattern.exec(text) ?? []
    text += chunk
    const [, link] = loginPattern.exec(text) ?? []
    if (link !== knownLink && link !== undefined) await fetch(await issuer.browse(link))
    if (/"type":"lists".*"name":"resolve"/.test(text)) break
  }
  const states = Array.from(
    text.matchAll(/"status":"([a-z_]+)"|"type":"(login)"/g),
    ([, status, login]) => status ?? login,
  )
  expect(states.slice(-5)).toEqual(['login_needed', 'login', 'login', 'starting', 'ready'])
  const [, link] = loginPattern.exec(text) ?? []
  expect(lines.slice(2)).toEqual([`The server requires a login: visit ${link}`, expect.stringContaining('ready after')])
  dev.kill('SIGTERM')
  await once(dev, 'exit')
})
