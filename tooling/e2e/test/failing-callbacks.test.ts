import { type ClientOptions, createClient, type InputHandlers } from '@x/client'
import { createServer, type ServerDefinition, tool } from '@x/server'
import { callLog } from '@x/server/log'
import { telemetry } from '@x/server/otel'
import { randomKey, sealedState } from '@x/state-codec'
import { connectStdio } from '@x/transport-stdio'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { eachFailing, failing, failure, isFromFailure } from './failing-function.ts'

const info = { name: 'demo', version: '1.0.0' }

function createDemo(definition: Partial<ServerDefinition>, visibleTo?: () => boolean) {
  const greet = tool('greet', {
    description: 'Asks for a name',
    input: z.object({}),
    ...(visibleTo && { visibleTo }),
    run: async (_args, ctx) => {
      ctx.progress(1)
      ctx.log('warning', 'a message')
      const { name } = await ctx.elicit('name', { message: 'Your name?', schema: z.object({ name: z.string() }) })
      return name
    },
  })
  return createServer({
    ...info,
    log: () => {},
    state: sealedState({ keys: [randomKey()] }),
    ...definition,
    tools: [greet],
  })
}

const answer = () => ({ action: 'accept' as const, content: { name: 'Ada' } })

interface ServerCase {
  readonly definition?: Partial<ServerDefinition>
  readonly visibleTo?: () => boolean
  /** True if the call needs what the function returns. */
  readonly fails?: boolean
}

test.each(
  eachFailing<ServerCase>({
    log: (log) => ({ definition: { log } }),
    'log of callLog': (log) => ({ definition: { extensions: [callLog({ log, slowMs: 0 })] } }),
    'observe of an extension': (observe) => ({
      definition: { extensions: [{ extends: 'server', name: 'observer', start: () => ({ observe }) }] },
    }),
    'isTrusted of telemetry': (isTrusted) => ({ definition: { extensions: [telemetry({ isTrusted })] } }),
    'shedding.load': (load) => ({ definition: { shedding: { load } } }),
    ready: (ready) => ({ definition: { ready } }),
    close: (close) => ({ definition: { close } }),
    visibleTo: (visibleTo) => ({ visibleTo, fails: true }),
    middleware: (middleware) => ({ definition: { use: [() => middleware] }, fails: true }),
  }),
)('if %s at a server, the server goes on [ROB-003]', async (_, { definition, visibleTo, fails = false }) => {
  const log = vi.fn()
  const server = createDemo({ log, ...definition }, visibleTo)
  const client = createClient(server, { ...info, elicit: answer })
  const outcome = await client.callTool('greet', {}).then(
    ({ content: [block] }) => block?.type === 'text' && block.text,
    () => 'error',
  )
  expect(outcome).toBe(fails ? 'error' : 'Ada')
  await server.ready()
  await server.close()
})

/** A server with a tool that asks every kind of question, and has an output schema. */
function createAsking() {
  const ask = tool('ask', {
    description: 'Asks everything',
    output: z.object({ name: z.string() }),
    run: async (_args, ctx) => {
      ctx.progress(1)
      ctx.log('warning', 'a message')
      await ctx.elicitUrl('page', { message: 'Open it', url: 'https://a.example/' })
      await ctx.roots('roots')
      await ctx.sampleText('text', { messages: [], maxTokens: 10 })
      return ctx.elicit('name', { message: 'Your name?', schema: z.object({ name: z.string() }) })
    },
  })
  return createServer({ ...info, log: () => {}, state: sealedState({ keys: [randomKey()] }), tools: [ask] })
}

const handlers: InputHandlers = {
  elicit: answer,
  openUrl: () => ({ action: 'accept' }),
  roots: () => [],
  sample: () => ({ role: 'assistant', model: 'a', content: { type: 'text', text: 'a' } }),
}

test.each(
  eachFailing<Partial<ClientOptions> & { readonly onProgress?: () => void; readonly onLog?: () => void }>({
    elicit: (elicit) => ({ elicit }),
    openUrl: (openUrl) => ({ openUrl }),
    sample: (sample) => ({ sample }),
    roots: (roots) => ({ roots }),
    outputSchemaCompiler: (compiler) => ({ outputSchemaCompiler: compiler }),
    'the check of outputSchemaCompiler': (check) => ({ outputSchemaCompiler: () => check }),
    'wrapCall of an extension': (wrapped) => ({
      extensions: [{ extends: 'client' as const, name: 'w', start: () => ({ wrapCall: () => wrapped }) }],
    }),
    onProgress: (onProgress) => ({ onProgress }),
    onLog: (onLog) => ({ onLog }),
    'middleware of use': (middleware) => ({ use: [() => middleware] }),
  }),
)('if %s at a client, the call rejects with that error [ROB-003]', async (_, { onProgress, onLog, ...options }) => {
  const client = createClient(createAsking(), { ...info, ...handlers, ...options })
  const running = client.callTool('ask', {}, { onProgress, onLog, logLevel: 'debug' })
  await expect(running).rejects.toSatisfy(isFromFailure)
})

test.each(
  eachFailing({
    'observe of an extension': (observe) => ({
      extensions: [{ extends: 'client' as const, name: 'observer', start: () => ({ observe }) }],
    }),
    log: (log) => ({ log, extensions: [{ extends: 'client' as const, name: 'o', start: () => ({ observe: log }) }] }),
  }),
)('if %s at a client, the call has its result [ROB-003]', async (_, options) => {
  const client = createClient(createDemo({}), { ...info, log: () => {}, elicit: answer, ...options })
  expect((await client.callTool('greet', {})).content).toEqual([{ type: 'text', text: 'Ada' }])
})

const noisyServer = `
  console.error('a line of stderr')
  console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
  console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }))
  process.stdin.once('data', () => process.exit(1))
`

test.each(failing)('if a callback of connectStdio %s, one line is logged for it [ROB-003]', async (_, fail) => {
  const log = vi.fn()
  const callbacks = { onNotification: fail, onRequest: fail, onExit: fail, stderr: fail }
  await using connection = connectStdio({ command: process.execPath, args: ['-e', noisyServer], log, ...callbacks })
  await expect(createClient(connection, { ...info, maxResendMs: 0 }).listTools()).rejects.toThrow('ended')
  await expect.poll(() => log.mock.calls.filter(([{ err }]) => err.cause === failure)).toHaveLength(4)
})
