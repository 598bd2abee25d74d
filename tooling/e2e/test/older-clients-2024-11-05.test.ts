import { Client as FirstClient } from '@modelcontextprotocol/sdk-1.0/client/index.js'
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk-1.0/client/stdio.js'
import { Client as LaterClient } from '@modelcontextprotocol/sdk-1.10/client/index.js'
import { StdioClientTransport as LaterStdio } from '@modelcontextprotocol/sdk-1.10/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk-1.10/client/streamableHttp.js'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { ourServerOfBothEras } from './interop/our-definition.ts'

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/all-revisions.ts', import.meta.url))
})
afterAll(() => program?.[Symbol.asyncDispose]())

type OldClient = FirstClient | LaterClient
const info = { name: 'old', version: '1.0.0' }

test.each<[string, (use: (client: OldClient) => Promise<void>) => Promise<void>]>([
  [
    'SDK 1.0.4 over stdio',
    async (use) => {
      const client = new FirstClient(info, { capabilities: {} })
      await client.connect(new FirstStdio({ command: process.execPath, args: [program.path] }))
      await use(client).finally(() => client.close())
    },
  ],
  [
    'SDK 1.10.2 over stdio',
    async (use) => {
      const client = new LaterClient(info)
      await client.connect(new LaterStdio({ command: process.execPath, args: [program.path] }))
      await use(client).finally(() => client.close())
    },
  ],
  [
    'SDK 1.10.2 over Streamable HTTP',
    async (use) => {
      await using http = await serveHttp(ourServerOfBothEras())
      const client = new LaterClient(info)
      const transport = new StreamableHTTPClientTransport(new URL(http.url))
      // The types of the SDK reject its own transport under exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<LaterClient['connect']>[0])
      await use(client).finally(() => client.close())
    },
  ],
])(
  'the client of %s with revision 2024-11-05 reads lists, prompts, resources and completions, calls tools, and receives no question: the tool that needs one returns an error [LEG-014 LEX-004]',
  async (_, connect) => {
    await connect(async (client) => {
      const { tools } = await client.listTools()
      expect(tools.length).toBeGreaterThan(0)
      expect(
        tools.filter((listed) => 'annotations' in listed || 'title' in listed || 'outputSchema' in listed),
      ).toEqual([])
      expect(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).toMatchObject({
        content: [{ type: 'text', text: 'Hello, Ada!' }],
      })
      expect(await client.callTool({ name: 'broken', arguments: {} })).toMatchObject({ isError: true })
      const ref = { type: 'ref/prompt', name: 'review' } as const
      const { completion } = await client.complete({ ref, argument: { name: 'language', value: 'ru' } })
      expect(completion.values).toEqual(['ruby', 'rust'])
      const { messages } = await client.getPrompt({ name: 'review', arguments: { language: 'go' } })
      expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this go' } }])
      expect((await client.readResource({ uri: 'test://one' })).contents).toMatchObject([{ text: 'Text one' }])
      expect(await client.ping()).toEqual({})
      expect(await client.callTool({ name: 'resolve', arguments: { id: 1 } })).toMatchObject({
        isError: true,
        content: [{ text: 'This needs the client capability elicitation.form' }],
      })
    })
  },
)
