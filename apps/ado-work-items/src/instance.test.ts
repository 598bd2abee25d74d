import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { startPostgres } from '@tooling/real-servers/postgres'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { beforeAll, expect, test } from 'vitest'
import { readSeed } from './emulator/seed.ts'
import { serveEmulator } from './emulator/serve-emulator.ts'
import { builtModule, checkBuilt, command } from './testing/start-app.ts'

beforeAll(checkBuilt)

test('an instance is configured by its environment alone, says how it is, and stops at SIGTERM', {}, async () => {
  await using services = await openServices()
  const instance = startInstance({ ...services.environment, PORT: '0' })
  const [line] = await once(createInterface({ input: instance.stdout }), 'line')
  const url = String(line).replace('Serving ', '')
  expect(await health(url, '/healthz')).toEqual([200, { ok: true }])
  expect(await health(url, '/readyz')).toEqual([200, { ok: true }])
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

async function health(url: string, path: string): Promise<readonly [number, unknown]> {
  const response = await fetch(new URL(path, url))
  return [response.status, await response.json()]
}

/** Starts the services that an instance needs in a deployment. */
async function openServices() {
  const [organization, project, token] = ['contoso', 'Real', 'real-token']
  const emulator = await serveEmulator({ organization, project, token, seed: readSeed() })
  const database = await startPostgres()
  return {
    environment: {
      AZURE_DEVOPS_URL: emulator.url,
      AZURE_DEVOPS_ORG: organization,
      AZURE_DEVOPS_PROJECT: project,
      AZURE_DEVOPS_TOKEN: token,
      STATE_KEYS: '8f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      TASKS_DATABASE: database.url,
    },
    [Symbol.asyncDispose]: async () => {
      await database.close()
      await emulator.close()
    },
  }
}
