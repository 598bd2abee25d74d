import { tasks } from '@x/tasks/server'
import { createClient, type ClientOptions } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { createServer, form, prompt, resource, tool, type ServerDefinition } from '@x/server'
import { callLog } from '@x/server/log'
import { sealedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Act, description, info, key, question, run, seen, untyped } from './mistakes.ts'

/** Makes a server of a definition. */
const server =
  (definition: object): Act =>
  (log) =>
    createServer(untyped({ ...info, log, ...definition }))

/** Makes a server with one tool. */
const define = (options: object): Act => server({ tools: [tool('x', untyped({ description, run, ...options }))] })

/** Calls a tool with this handler, whose questions are answered. */
const call =
  (handler: (ctx: never) => unknown, options: object = {}, more: Partial<ServerDefinition> = {}): Act =>
  async (log) => {
    const handled = tool('x', untyped({ description, run: (_: unknown, ctx: never) => handler(ctx), ...options }))
    const answers: Partial<ClientOptions> = { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) }
    const made = createServer({ ...info, state: sealedState({ keys: [key] }), log, tools: [handled], ...more })
    const result = await createClient(made, { ...info, ...answers }).callTool('x')
    for (const block of result.content) if (block.type === 'text') log({ level: 'info', message: block.text })
  }

// oxlint-disable-next-line typescript/no-explicit-any -- handlers as programs without types write them
type Ctx = any
let runCount = 0

const atDefinition: readonly (readonly [string, Act, RegExp])[] = [
  ['no description', define({ description: undefined }), /tool "x": has no description; models choose tools by it/],
  ['a raw shape', define({ input: { a: z.string() } }), /with the schema of "a"; write one schema, as in z\.object/],
  ['inputSchema', define({ inputSchema: z.object({}) }), /inputSchema is called input/],
  ['no run', define({ run: undefined }), /has no handler; write the function `run`/],
  ['an unknown option', define({ anotations: {} }), /has no option `anotations`: did you mean `annotations`\?/],
  ['an unknown option of a prompt', server({ prompts: [prompt('p', untyped({ run, runs: 1 }))] }), /`runs`.*`run`/],
  [
    'an unknown option of a resource',
    server({ resources: [resource('x://y', untyped({ name: 'y', read: run, mime: 1 }))] }),
    /`mime`/,
  ],
  [
    'two tools of one name',
    server({ tools: [tool('x', { description, run }), tool('x', { description, run })] }),
    /"x": tools has it twice/,
  ],
  ['z.date as input', define({ input: z.object({ at: z.date() }) }), /Date .*z\.iso\.datetime\(\)\.transform/],
  ['z.bigint as input', define({ input: z.object({ n: z.bigint() }) }), /BigInt .*transform\(BigInt\)/],
  ['z.map as input', define({ input: z.object({ n: z.map(z.string(), z.string()) }) }), /Map .*z\.record/],
  [
    'an output with a transform',
    define({ output: z.object({ n: z.string().transform(Number) }) }),
    /Transforms .*; describe the JSON that is sent, and convert the value in run/,
  ],
  [
    'a schema of zod 3',
    define({ input: { '~standard': { vendor: 'zod', version: 1, validate: run } } }),
    /zod before 4\.2: npm install zod@4/,
  ],
  ['tool for tools', server({ tool: [] }), /has no option `tool`: did you mean `tools`\?/],
  [
    'a misspelt scope',
    server({ cache: { scop: 'private' } }),
    /createServer, cache, has no option `scop`: did you mean `scope`/,
  ],
  [
    'tools as an object',
    server({ tools: { x: tool('x', { description, run }) } }),
    /tools is an object; write tools: \[tool\('name', \{ … \}\)\]/,
  ],
  ['a function among the tools', server({ tools: [run] }), /tools\[0\] is a function; write tools: \[tool\('name'/],
  [
    'undefined among the prompts',
    server({ prompts: [undefined] }),
    /prompts\[0\] is undefined; write prompts: \[prompt/,
  ],
  [
    'an extension that is not called',
    server({ extensions: [tasks] }),
    /it is not a server extension; write the call, such as tasks\(\{ store \}\)/,
  ],
  ['an extension without a list', server({ extensions: tasks() }), /extensions is an object; write extensions: \[/],
  ['no definition', () => createServer(untyped(undefined)), /createServer takes an object of options, and was given/],
  ['a logger as log', server({ log: console }), /log must be a function that receives records, as in \(\{ level/],
  ['a text as state', server({ state: 'secret' }), /state is a text; write state: sealedState\(\{ keys/],
  ['a text as input', define({ input: 'name' }), /input: it is a text; write a schema, as in z\.object/],
  [
    'a resource among the templates',
    server({ resourceTemplates: [resource('x://y', { name: 'y', read: run })] }),
    /resourceTemplates\[0\] is an object; write resourceTemplates: \[resourceTemplate\(/,
  ],
  ["task: 'required' without tasks()", define({ task: 'required' }), /write extensions: \[tasks\(…\)\]/],
  [
    'a date in a form',
    () => form(z.object({ at: z.date() })),
    /property "at": (?!.*describe).*; ask for a string, and turn it into what .* with transform\(\)$/m,
  ],
  [
    'a nested object in a form',
    () => form(z.object({ a: z.object({}) })),
    /property "a": a form has no objects within it: give their properties to the form itself/,
  ],
  ['a form without a schema', () => form(untyped(undefined)), /form takes a schema, as in .*, and was given nothing/],
  ['connectAny without a target', () => connectAny(untyped(undefined)), /connectAny takes a URL, or .*given nothing/],
  ['callLog without a log', () => callLog(untyped({})), /callLog takes an object with log.*: `log` is missing/],
  ['a passphrase as key', () => sealedState({ keys: ['correct horse battery staple'] }), /mcpx keys new|openssl/],
  ['undefined as key', () => sealedState({ keys: [untyped(undefined)] }), /environment variable/],
]

const atCall: readonly (readonly [string, Act, RegExp])[] = [
  [
    'a question without await',
    call((ctx: Ctx) => void ctx.elicit('name', question)),
    /without waiting for ctx\.elicit\("name"\): await every/,
  ],
  [
    'a step without await that fails',
    call((ctx: Ctx) => (ctx.step('s', () => Promise.reject(new Error('no'))), '')),
    /without waiting for ctx\.step\("s"\): await|did not wait for it: await/,
  ],
  [
    'a step without await that succeeds',
    call((ctx: Ctx) => `${ctx.step('s', () => 1)}`),
    /without waiting for ctx\.step\("s"\): await every question and step/,
  ],
  [
    'a suspension that is caught',
    call((ctx: Ctx) => ctx.elicit('name', question).catch(() => '')),
    /caught the suspension .* isSuspension\(error\) is true/,
  ],
  [
    'a message that changes between runs',
    call((ctx: Ctx) => ctx.elicit('name', { ...question, message: `${(runCount += 1)}` }).then(run)),
    /"x" asks "name" differently in every run: keep times and random values out of messages/,
  ],
  [
    'a step key used twice',
    call(async (ctx: Ctx) => (await ctx.step('s', run), await ctx.step('s', run))),
    /the key "s" twice in one run: give each its own/,
  ],
  [
    'a question in a step',
    call((ctx: Ctx) => ctx.step('s', () => ctx.elicit('name', question))),
    /was used inside a step: steps do work, the handler asks/,
  ],
  [
    'a Map from a step',
    call((ctx: Ctx) => ctx.step('s', () => new Map())),
    /must give JSON, but it is a Map, not a plain object/,
  ],
  [
    'a promise as a step',
    call((ctx: Ctx) => ctx.step('s', Promise.resolve(1))),
    /ctx\.step\("s"\) was given a promise; write a function that begins the work/,
  ],
  [
    'elicit without a key',
    call((ctx: Ctx) => ctx.elicit(question)),
    /the first argument of .* must be the key, a text, and it is an object/,
  ],
  [
    'a step without a key',
    call((ctx: Ctx) => ctx.step(run)),
    /the first argument of ctx\.step must be the key, a text, and it is a function/,
  ],
  [
    'a step that only the first run has',
    call(
      async (ctx: Ctx) => {
        if ((runCount += 1) === 1) await ctx.step('s', run)
        await ctx.elicit('name', question)
        return 'done'
      },
      {},
      { strictReplay: false },
    ),
    /did not reach its step "s" when it ran again: in each run, decide by/,
  ],
  [
    'a new question key in each run',
    call(async (ctx: Ctx) => ctx.elicit(`k${(runCount += 1)}`, question)),
    /has asked 8 times in one call.*(new key|same key|ask several)/,
  ],
  [
    'returning undefined',
    call(() => undefined),
    /returned undefined, which is neither text nor \{ content: \[\.\.\.\] \}; declare output/,
  ],
  ['returning null', call(() => null), /returned null, which is neither text/],
  ['returning a number', call(() => 3), /returned the number 3, which is neither text/],
  ['returning an object without output', call(() => ({ a: 1 })), /returned an object, which is neither text/],
  [
    'a content block of an unknown type',
    call(() => ({ content: [{ type: 'txt', text: '' }] })),
    /content block of the type "txt"; the types are text, image/,
  ],
  [
    'an output that does not match',
    call(() => ({ a: 'b' }), { output: z.object({ a: z.number() }) }),
    /returned a value that does not match its output schema:\n.*a/,
  ],
  [
    'content of a tool with an output',
    call(() => ({ content: [], structuredContent: { a: 1 } }), { output: z.object({ a: z.number() }) }),
    /does not match its output schema:\n.*a.*\nTo set the content too, return toolResult\(\{ content, … \}\)/,
  ],
  [
    'a Map in an output',
    call(() => ({ all: new Map([[1, 2]]) }), { output: z.object({ all: z.any() }) }),
    /returned a Map at \/all, which JSON writes as \{\}; return a plain object/,
  ],
  [
    'an unknown capability in ctx.can',
    call((ctx: Ctx) => String(ctx.can('elicitations'))),
    /has no feature "elicitations"; it has elicitation, elicitation\.form/,
  ],
  [
    'a huge journal',
    call(async (ctx: Ctx) => (await ctx.step('s', () => 'x'.repeat(200_000)), await ctx.elicit('name', question), '')),
    /largest entries: steps\.s\.0 .*Store less in the state, or use storedState\(\)/,
  ],
  [
    'a Date from a step',
    call((ctx: Ctx) => ctx.step('s', () => ({ at: new Date() }))),
    /must give JSON, but its member \/at is a Date/,
  ],
  [
    'a step after the return',
    async (log) => {
      const ended: unknown[] = []
      const useLate = (ctx: Ctx): unknown => ctx.step('late', run).catch((error: unknown) => ended.push(error))
      await call((ctx: Ctx) => (setImmediate(() => useLate(ctx)), 'done'))(log)
      await expect.poll(() => ended.length).toBe(1)
    },
    /used ctx\.step\("late"\) after its call had ended: await everything that the handler starts/,
  ],
]

describe('a mistake in a definition is named, with what is right', () => {
  test.each(atDefinition)('%s', async (_, act, message) => {
    expect(await seen(act)).toMatch(message)
  })
})

describe('a mistake in a handler is named, with what is right', () => {
  test.each(atCall)('%s', async (_, act, message) => {
    runCount = 0
    expect(await seen(act)).toMatch(message)
  })
})
