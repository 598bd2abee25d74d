import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { startPostgres } from '@tooling/real-servers/postgres'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { emulated } from './testing/emulated.ts'
import { builtModule, checkBuilt, command } from './testing/start-app.ts'

beforeAll(checkBuilt)

test('an instance is configured by its environment alone, says how it is, and stops at SIGTERM', async () => {
  await using organization = await emulated()
  const database = await startPostgres()
  onTestFinished(() => database.close())
  const deployed = { STATE_KEYS: randomBytes(32).toString('hex'), TASKS_DATABASE: database.url, PORT: '0' }
  const instance = startInstance({ ...organization.environment, ...deployed })
  const [line] = await once(createInterface({ input: instance.stdout }), 'line')
  const url = String(line).replace('Serving ', '')
  for (const path of ['/healthz', '/readyz']) expect((await fetch(new URL(path, url))).status).toBe(200)
  {
    await using connection = connectHttp(url)
    const client = createClient(connection, { name: 'test', version: '1.0.0' })
    const { structuredContent } = await client.callTool('get_work_item', { workItemId: 4522 })
    expect(structuredContent).toMatchObject({ id: 4522, state: 'Active' })
  }
  instance.kill('SIGTERM')
  expect(await once(instance, 'exit')).toEqual([0, null])
})

test('an environment that cannot be used ends it with the problems', async () => {
  const instance = startInstance({ PORT: 'http' })
  const [errors, [code]] = await Promise.all([text(instance.stderr), once(instance, 'exit')])
  expect(errors).toMatch(/^Cannot start:\n(?:STATE_KEYS|TASKS_DATABASE) [^]*PORT cannot be used/)
  expect(code).toBe(1)
})

function startInstance(environment: Readonly<Record<string, string>>) {
  const { command: program, args, env } = command([], environment, builtModule('instance'))
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}
