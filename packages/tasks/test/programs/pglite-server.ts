import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createCall } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { createServer, tool } from '@x/server'
import { pgliteEngine } from '../../src/pglite.ts'
import { tasks } from '../../src/server.ts'

/**
 * A server with tasks in a folder. With the argument `begin` it creates a task, which waits in its second step. With an
 * id it runs the tasks of the folder until that task has ended. It prints one JSON value per line.
 */
const [folder = '', effects = '', order = ''] = process.argv.slice(2)

const work = tool('work', {
  description: 'Works in steps, each of which appends a line to a file',
  task: 'required',
  run: async (_, ctx) => {
    const one = await ctx.step('one', () => effect('one'))
    const two = await ctx.step('two', async () => {
      effect('two')
      if (order !== 'begin') return effect('two, done')
      print({ isWaiting: true })
      return new Promise<string>(() => {})
    })
    return `${one} and ${two}`
  },
})

function effect(line: string): string {
  appendFileSync(effects, `${line}\n`)
  return line
}

function print(value: JsonObject): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

const server = createServer({
  name: 'pglite',
  version: '1.0.0',
  tools: [work],
  extensions: [tasks({ store: pgliteEngine(folder, { leaseMs: 1000 }) })],
})

async function ask(method: string, params: JsonObject): Promise<JsonObject> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const call = createCall({ signal: AbortSignal.timeout(60_000) })
  const response = await server.exchange({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, call)
  return 'result' in response ? response.result : { error: response.error.message }
}

async function runUntilEnd(taskId: string): Promise<void> {
  for (;;) {
    const task = await ask('tasks/get', { taskId })
    if (task['status'] !== 'working') {
      print(task)
      break
    }
    await setTimeout(50)
  }
  await server.close()
}

// The timer keeps the process running until the test kills it.
setInterval(() => {}, 1000)
try {
  if (order === 'begin') print(await ask('tools/call', { name: 'work' }))
  else {
    await runUntilEnd(order)
    process.exit(0)
  }
} catch (error) {
  print({ error: String(error) })
  process.exit(1)
}
