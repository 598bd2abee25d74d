import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { createServer, randomKey, sealedState, tool } from '@x/server'
import { testClient } from '@x/testing'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { author, client, emptyList, guesses, interfaceInStep, serverInfo } from '../guesses/accepted.ts'
import { prompts, server as serverOfResults, tools } from '../guesses/results.ts'

const accepted = fileURLToPath(new URL('../guesses/accepted.ts', import.meta.url))
const results = fileURLToPath(new URL('../guesses/results.ts', import.meta.url))
const rejected = fileURLToPath(new URL('../guesses/rejected.ts', import.meta.url))
const mistaken = fileURLToPath(new URL('../guesses/mistaken.ts', import.meta.url))

test('each guess compiles, or the error of its line names the correct form', { timeout: 300_000 }, () => {
  const expected = [rejected, mistaken].flatMap(adviceOf)
  expect(expected.length).toBeGreaterThan(0)
  const found = errors()
  expect(found.map(({ file, line }) => [file, line])).toEqual(expected.map(({ file, line }) => [file, line]))
  for (const [index, { advice }] of expected.entries()) expect(found[index]?.message).toContain(advice)
})

/** Returns what each wrong line of a file says about its error. */
function adviceOf(file: string): { readonly file: string; readonly line: number; readonly advice: string }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const advice = / \/\/ error: (.+)$/.exec(line)?.[1]
      return advice === undefined ? [] : [{ file, line: index + 1, advice }]
    })
}

/** Returns the errors of the files with `--strict`, as in the editor of an author. */
function errors(): { readonly file: string | undefined; readonly line: number; readonly message: string }[] {
  const files = [accepted, results, rejected, mistaken]
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  })
  const diagnostics = files.flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
  return diagnostics.map(({ start = 0, file: source, messageText }) => ({
    file: source?.fileName,
    line: (source?.getLineAndCharacterOfPosition(start).line ?? -1) + 1,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }))
}

describe('a guess that compiles has the intended effect:', () => {
  test('the resources of a template with `list` are listed', async () => {
    const resources = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['notes://days/monday', 'notes://days/tuesday', 'notes://pages/1'])
  })

  test.each(tools)('the content that the tool $name returns is its result', async ({ name, definition }) => {
    const text = definition.input === undefined ? 'done' : 'given'
    const texts = name === 'several_blocks' ? [...text] : [text]
    const result = await createClient(serverOfResults, author).callTool(name, definition.input && { text })
    expect(result.content).toEqual(texts.map((each) => ({ type: 'text', text: each })))
    expect(result.isError === true).toBe(name === 'failure')
  })

  test('the messages and contents that prompts and resources return are their results', async () => {
    const tester = createClient(serverOfResults, author)
    for (const { name, definition } of prompts) {
      const { messages } = await tester.getPrompt(name, definition.input && { text: 'done' })
      expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'done' } }])
    }
    for (const uri of ['results://arrow', 'results://texts/done']) {
      expect((await tester.readResource(uri)).contents).toMatchObject([{ uri, text: 'done' }])
    }
  })

  test('an argument of a prompt is coerced', async () => {
    const { messages } = await client.prompts.count({ upTo: '3' })
    expect(messages).toMatchObject([{ content: { text: 'Count to 4' } }])
  })

  test('the client has the name of the server after its first response', async () => {
    const fresh = createClient(guesses, author)
    expect(serverInfo(fresh)).toBeUndefined()
    await fresh.listPrompts()
    expect(serverInfo(fresh)).toBe('guesses')
  })

  test('steps accept interfaces, and a checkpoint with an empty list accepts items', async () => {
    const issues = tool('issues', {
      description: 'Works through issues',
      run: async (_, ctx) => {
        const found = await interfaceInStep(ctx, async () => [{ id: 7, title: 'Seven' }])
        return JSON.stringify([found, await emptyList(ctx)])
      },
    })
    const tester = testClient((kit) => createServer({ ...kit, name: 'guesses', version: '1.0.0', tools: [issues] }))
    const text = '[[{"id":7,"title":"Seven"}],{"next":1,"ids":["a"]}]'
    expect((await tester.callTool('issues')).content).toEqual([{ type: 'text', text }])
  })

  test('a random key is accepted', () => {
    const state = sealedState({ keys: [randomKey()] })
    expect(() => createServer({ name: 'guesses', version: '1.0.0', state })).not.toThrow()
  })
})

describe('a guess that the types accept is rejected at the start:', () => {
  test.each(['test', 'a key of a test', new Uint8Array(8)])('the key %j', (key) => {
    expect(() => sealedState({ keys: [key] })).toThrow(/^keys\[0\] .+: make one with: .+; a test takes randomKey\(\)$/)
  })
})
