import { createClient, type InputHandlers, type Progress } from '@x/client'
import type { Exchange, Server } from '@x/exchange'
import { errorCodes, errorResponse, McpError } from '@x/schema'
import { createServer, tool } from '@x/server'
import { createGate } from '@tooling/vitest/gate'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryEngine } from '../engines/memory-engine.ts'
import type { TaskOptions } from '../server/options.ts'
import { tasks } from '../server/tasks.ts'
import type { TasksClientOptions } from './settings.ts'
import { tasksClient } from './tasks-client.ts'

const host = { name: 'host', version: '1.0.0' } as const
const quick = { polling: { minMs: 1 } } as const

/**
 * The handler waits for `wasSeen` after its progress. Otherwise the task could end before the client reads the
 * progress.
 */
function serve(options: TaskOptions = {}, wasSeen: Promise<void> = Promise.resolve()) {
  const work = tool('work', {
    description: 'Asks, works and reports progress',
    input: z.object({ first: z.boolean().default(false) }),
    task: 'allowed',
    run: async (_, ctx) => {
      const { name } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })
      await ctx.progress(1, 2, 'half way')
      await wasSeen
      const sum = await ctx.step('sum', () => 40 + 2)
      return `${name} ${sum}`
    },
  })
  const broken = tool('broken', {
    description: 'Fails',
    task: 'required',
    run: () => {
      throw new Error('no such luck')
    },
  })
  const refused = tool('refused', {
    description: 'Is refused',
    task: 'required',
    run: () => {
      throw new McpError(errorCodes.internal, 'Not now', { data: { after: 3 } })
    },
  })
  return createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [work, broken, refused],
    extensions: [tasks({ store: memoryEngine(), pollIntervalMs: 1, ...options })],
  })
}

const answering: InputHandlers = { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) }

describe.each<[string, TasksClientOptions]>([
  ['polls', { follow: 'poll' }],
  ['listens to notifications', { follow: 'listen' }],
])('A client of a server with tasks that %s', (_title, options) => {
  test('returns the result of the call, and answers its questions [TSK-002 TSK-010 TSK-028]', async () => {
    const seen = createGate()
    await using server = serve({}, seen.opened)
    const ids: string[] = []
    const onTask = ({ taskId }: { taskId: string }): void => void ids.push(taskId)
    const extensions = [tasksClient({ ...quick, ...options, onTask })] as const
    const client = createClient(server, { ...host, ...answering, extensions })
    const reported: Progress[] = []
    const onProgress = (progress: Progress): void => {
      reported.push(progress)
      if (progress.message === 'half way') seen.open()
    }
    const result = await client.callTool('work', {}, { onProgress })
    expect(result.content).toEqual([{ type: 'text', text: 'Ada 42' }])
    expect(ids).toHaveLength(1)
    expect(reported.at(-1)).toEqual({ progress: 1, total: 2, message: 'half way' })
    expect(await client.callTool('work')).toEqual(result)
  })
})

/**
 * A server that has only the persistent workflow of SEP-2322: `tasks/get` returns the status, and `tasks/result` the
 * other members.
 */
function workflowAlone({ exchange }: Server, asked: string[]): Exchange {
  return async (request, call) => {
    const { id, method } = request
    asked.push(method)
    if (method === 'tasks/update') return errorResponse(id, new McpError(errorCodes.methodNotFound, 'Unknown method'))
    const response = await exchange(request, call)
    if (method !== 'tasks/get' || 'error' in response) return response
    const { inputRequests: _requests, result: _result, error: _error, ttlMs, pollIntervalMs, ...task } = response.result
    return { ...response, result: { ...task, ttl: ttlMs ?? null, pollInterval: pollIntervalMs ?? 1 } }
  }
}

describe('A client of a server that has only the persistent workflow', () => {
  test('reads requests and results with tasks/result, and answers with tasks/input_response [PWF-001 PWF-002]', async () => {
    await using server = serve({ persistentWorkflow: true })
    const asked: string[] = []
    const extensions = [tasksClient({ ...quick, follow: 'poll' })] as const
    const client = createClient(workflowAlone(server, asked), { ...host, ...answering, extensions })
    expect((await client.callTool('work')).content).toEqual([{ type: 'text', text: 'Ada 42' }])
    expect(asked.filter((method) => method === 'tasks/result')).toHaveLength(2)
    expect(asked).toContain('tasks/input_response')
    await expect(client.callTool('refused')).rejects.toMatchObject({
      rpc: { code: errorCodes.internal, message: 'Not now', data: { after: 3 } },
    })
  })
})
