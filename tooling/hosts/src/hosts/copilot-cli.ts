import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Host, terminalSession } from '../session.ts'
import { openTerminal } from '../terminal.ts'

export const copilotCli: Host = {
  name: 'Copilot CLI',
  kind: 'agent',
  packages: ['@github/copilot'],
  async start({ path, home, server: { url, command, args, env: serverEnv }, model }) {
    const cwd = join(home, 'project')
    await mkdir(cwd)
    await mkdir(join(home, '.copilot'))
    const config = { trusted_folders: [cwd], banner: 'never', firstLaunchAt: new Date(0).toISOString() }
    await writeFile(join(home, '.copilot/config.json'), JSON.stringify(config))
    const entry = url === undefined ? { command, args, env: serverEnv } : { type: 'http', url, tools: ['*'] }
    const servers = { mcpServers: { demo: entry } }
    await writeFile(join(home, '.copilot/mcp-config.json'), JSON.stringify(servers))
    const env = {
      PATH: path,
      HOME: home,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'gpt-6-sol',
      COPILOT_PROVIDER_WIRE_API: 'responses',
      COPILOT_OFFLINE: 'true',
      BROWSER: 'xdg-open',
    }
    const options = ['--allow-all-tools', '--allow-all-paths', '--disable-builtin-mcps', '--disable-client-telemetry']
    const terminal = await openTerminal({ command: ['copilot', ...options], cwd, env, ready: /❯/ })
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      async answer(...values) {
        for (const value of values) await terminal.type(value)
        await terminal.press('Enter')
      },
      cancel: () => terminal.press('Escape', 'Escape'),
      lacks: {
        prompt: 'the host asks the server for no prompts',
        resource: 'the host asks the server for no resources',
      },
    }
  },
}
