import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Host, terminalSession } from '../session.ts'
import { openTerminal } from '../terminal.ts'

/** An argument with spaces stands in quotes, and any other may. */
const quote = (value: string): string => `"${value}"`

export const opencode: Host = {
  name: 'opencode',
  kind: 'agent',
  packages: ['opencode-ai'],
  async start({ path, folder, home, server: { url, command, args, env: environment, needsLogin }, model }) {
    const cwd = join(home, 'project')
    await mkdir(cwd)
    const remote = { type: 'remote', url }
    const local = { type: 'local', command: [command, ...args], environment }
    const options = { baseURL: `${model.url}/v1`, apiKey: 'none' }
    const seeing = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } }
    const config = {
      model: 'stand-in/stand-in',
      small_model: 'stand-in/stand-in',
      autoupdate: false,
      share: 'disabled',
      provider: { 'stand-in': { npm: '@ai-sdk/openai-compatible', models: { 'stand-in': seeing }, options } },
      mcp: { demo: url === undefined ? local : remote },
    }
    await writeFile(join(cwd, 'opencode.json'), JSON.stringify(config))
    const env = {
      PATH: path,
      HOME: home,
      // At its first start it installs packages.
      XDG_CACHE_HOME: join(folder, 'cache'),
      npm_config_cache: join(folder, 'cache/npm'),
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_PURE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      BROWSER: 'xdg-open',
    }
    if (needsLogin) {
      const logIn = ['opencode', 'mcp', 'auth', 'demo']
      const login = await openTerminal({ command: logIn, cwd, env, ready: /Authentication successful/ })
      await login.close()
    }
    const terminal = await openTerminal({ command: ['opencode'], cwd, env, ready: /Ask anything/ })
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      cancel: () => terminal.press('Escape', 'Escape'),
      prompt: (name, values) => session.submit(`/demo:${name} ${Object.values(values).map(quote).join(' ')}`),
      read: (uri) => session.call('read_mcp_resource', { server: 'demo', uri }),
    }
  },
}
