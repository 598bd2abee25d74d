import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandSession } from '../command-session.ts'
import type { Host } from '../session.ts'

export const opencode: Host = {
  name: 'opencode',
  kind: 'agent',
  packages: ['opencode-ai'],
  async start({ path, home, server: { url, command, args, env: environment }, model }) {
    const remote = { type: 'remote', url, oauth: false }
    const local = { type: 'local', command: [command, ...args], environment }
    const options = { baseURL: `${model.url}/v1`, apiKey: 'none' }
    const config = {
      model: 'stand-in/stand-in',
      small_model: 'stand-in/stand-in',
      autoupdate: false,
      share: 'disabled',
      provider: { 'stand-in': { npm: '@ai-sdk/openai-compatible', models: { 'stand-in': {} }, options } },
      mcp: { demo: url === undefined ? local : remote },
    }
    await writeFile(join(home, 'opencode.json'), JSON.stringify(config))
    const env = { PATH: path, HOME: home, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
    // It puts an argument with spaces into quotes.
    const call = (tool: string, text: string) => ['opencode', 'run', 'CALL', tool, text] as const
    return commandSession({ command: call, cwd: home, env, model })
  },
}
