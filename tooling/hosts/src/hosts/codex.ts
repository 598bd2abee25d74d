import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Host, terminalSession } from '../session.ts'
import { openTerminal } from '../terminal.ts'

export const codex: Host = {
  name: 'Codex',
  kind: 'agent',
  packages: ['@openai/codex'],
  async start({ path, home, server: { url, command, args, env: serverEnv, needsLogin }, model }) {
    const cwd = join(home, 'project')
    const folder = join(home, '.codex')
    await mkdir(cwd)
    await mkdir(folder)
    const toml = (value: unknown): string => JSON.stringify(value)
    const variables = Object.entries(serverEnv).map(([name, value]) => `${name} = ${toml(value)}`)
    const entry = url === undefined ? `command = ${toml(command)}\nargs = ${toml(args)}` : `url = ${toml(url)}`
    const config = `
model = "stand-in"
model_provider = "stand-in"
approval_policy = "on-request"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
mcp_oauth_credentials_store = "file"
[features]
daemon_auto_start = false
[analytics]
enabled = false
[model_providers.stand-in]
name = "stand-in"
base_url = ${toml(`${model.url}/v1`)}
wire_api = "responses"
env_key = "MODEL_KEY"
[projects.${toml(cwd)}]
trust_level = "trusted"
[mcp_servers.demo]
default_tools_approval_mode = "approve"
startup_timeout_sec = 60
${entry}
${url === undefined ? `env = { ${variables.join(', ')} }` : ''}
`
    await writeFile(join(folder, 'config.toml'), config)
    const env = { PATH: path, HOME: home, MODEL_KEY: 'none', BROWSER: 'xdg-open' }
    if (needsLogin) {
      const logIn = ['codex', 'mcp', 'login', 'demo']
      const login = await openTerminal({ command: logIn, cwd, env, ready: /Successfully logged in/ })
      await login.close()
    }
    const terminal = await openTerminal({ command: ['codex'], cwd, env, ready: /Ask Codex/ })
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      async answer(...values) {
        for (const value of values) await terminal.type(value)
        await terminal.press('Enter')
        if (values.length > 0) return
        await terminal.see(/I finished/)
        await terminal.press('Enter')
      },
      cancel: () => terminal.press('Escape'),
      lacks: { prompt: 'the host asks the server for no prompts' },
      read: (uri) => session.call('read_mcp_resource', { server: 'demo', uri }),
    }
  },
}
