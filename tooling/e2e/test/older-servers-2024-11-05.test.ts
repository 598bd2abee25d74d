import { fileURLToPath } from 'node:url'
import { connectAny } from '@x/legacy/client'
import { describe, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { peerOf } from './older-server-peers.ts'

const programOf = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url))

// No server has the called tool, so no external service is called.
describe.each([
  ['github', { env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' }, tool: 'create_issue' }],
  ['brave-search', { env: { BRAVE_API_KEY: 'none' }, tool: 'brave_web_search' }],
  ['google-maps', { env: { GOOGLE_MAPS_API_KEY: 'none' }, tool: 'maps_geocode' }],
  ['postgres', { args: ['postgresql://127.0.0.1:9/none'], tool: 'query' }],
  ['puppeteer', { tool: 'puppeteer_navigate' }],
  ['slack', { env: { SLACK_BOT_TOKEN: 'none', SLACK_TEAM_ID: 'none' }, tool: 'slack_list_channels' }],
] as const satisfies readonly (readonly [string, ServerCommand])[])('server-%s, of 2024-11-05', (name, command) => {
  test('is connected to, and its tools are listed and called [LEX-004]', async () => {
    const { env, args = [], tool }: ServerCommand = command
    const target = { command: process.execPath, args: [programOf(name), ...args], ...(env && { env }) }
    await using peer = peerOf(connectAny(target, { handshakeTimeoutMs: 30_000 }))
    expect((await peer.client.listTools()).map((listed) => listed.name)).toContain(tool)
    expect(peer.connection.peer).toMatchObject({ revision: '2024-11-05' })
    const answer = peer.client.callTool('no_such_tool', {}).then(textOf, String)
    expect(await answer).toMatch(/no_such_tool|Unknown tool/)
  })
})

interface ServerCommand {
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** The name of one of its tools. */
  readonly tool: string
}
