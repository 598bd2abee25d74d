import { readFile } from 'node:fs/promises'
import { createClient } from '@x/client'
import { createCall, type Exchange } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { createServer, tool } from '@x/server'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { tasksClient } from '../src/client/tasks-client.ts'
import { tasks } from '../src/server/tasks.ts'

const documentTaskId = 'echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5'
const question = 'Please provide the input string to echo back'

/** The messages of the example of SEP-2322 (persistent tool workflow), requests and responses in turn. */
let messages: readonly JsonObject[]
beforeAll(async () => {
  const file = new URL('./vectors/sep-2322-persistent-workflow.json', import.meta.url)
  messages = JSON.parse(await readFile(file, 'utf8'))
})

const member = (value: JsonObject | undefined, name: string): JsonObject => {
  const found = value?.[name]
  return isJsonObject(found) ? found : {}
}
const paramsAt = (index: number): JsonObject => member(messages[index], 'params')
const resultAt = (index: number): JsonObject => member(messages[index], 'result')

/** A message without times, texts for people and defaults, which may differ. */
function withoutParticulars(value: JsonObject, taskId: string): JsonObject {
  const particulars = ['createdAt', 'lastUpdatedAt', 'statusMessage', 'pollInterval', 'isError']
  const text = JSON.stringify(value, (key, part: unknown) => (particulars.includes(key) ? undefined : part))
  return JSON.parse(text.replaceAll(taskId, documentTaskId))
}

const echo = tool('echo', {
  description: 'Repeats the input',
  task: 'allowed',
  run: async (_, ctx) => {
    const schema = z.object({ input: z.string() })
    const answer = await ctx.elicit('echo_input', { message: question, schema })
    return `Echo: ${answer.input}`
  },
})

describe('the example of the persistent workflow, in the messages of SEP-2322', () => {
  test('is understood and answered by the server [PWF-001 PWF-002]', async () => {
    const extensions = [tasks({ persistentWorkflow: true })]
    await using server = createServer({ name: 'demo', version: '1', tools: [echo], extensions })
    let taskId = ''
    const send = async (index: number): Promise<JsonObject> => {
      const params: JsonObject = JSON.parse(JSON.stringify(paramsAt(index)).replaceAll(documentTaskId, taskId))
      const capabilities = { elicitation: { form: {} } }
      const core = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: capabilities }
      const _meta = { ...member(params, '_meta'), ...core }
      const method = String(messages[index]?.['method'])
      const response = await server.exchange(
        { jsonrpc: '2.0', id: index, method, params: { ...params, _meta } },
        createCall(),
      )
      if ('error' in response) throw new Error(response.error.message)
      return response.result
    }
    const sendUntil = async (index: number, status: string): Promise<JsonObject> => {
      for (;;) {
        const state = await send(index)
        if (state['status'] === status) return state
        await new Promise(setImmediate)
      }
    }
    const created = await send(0)
    taskId = String(member(created, 'task')['taskId'])
    const answers = [
      [created, 1],
      [await sendUntil(2, 'input_required'), 3],
      [await send(4), 5],
      [await send(6), 7],
      [await sendUntil(8, 'completed'), 9],
      [await send(10), 11],
    ] as const
    for (const [answer, index] of answers)
      expect(withoutParticulars(answer, taskId)).toMatchObject(withoutParticulars(resultAt(index), taskId))
  })

  test('matches the requests of the client, which completes with the responses of the document', async () => {
    const sent: JsonObject[] = []
    const exchange: Exchange = async ({ id, method, params = {} }) => {
      const index = 2 * sent.length
      sent.push({ method, params })
      const { id: _, ...response } = messages[index + 1] ?? {}
      return { jsonrpc: '2.0', id, result: {}, ...response }
    }
    const asked: string[] = []
    const client = createClient(
      { exchange },
      {
        name: 'host',
        version: '1.0.0',
        extensions: [tasksClient({ persistentWorkflow: { ttlMs: 60_000 } })],
        elicit: ({ message }) => {
          asked.push(message)
          return { action: 'accept', content: { input: 'Hello World!' } }
        },
      },
    )
    const { content } = await client.callTool('echo')
    expect([content, asked]).toEqual([[{ type: 'text', text: 'Echo: Hello World!' }], [question]])
    const requests = messages.filter((message) => 'method' in message)
    expect(sent).toMatchObject(requests.map(({ method, params = {} }) => ({ method, params })))
  })
})
