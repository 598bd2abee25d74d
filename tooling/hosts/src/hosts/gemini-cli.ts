import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openTerminal, type Terminal } from '../terminal.ts'
import type { ServerEntry } from '../serve.ts'
import { type Host, terminalSession } from '../session.ts'

/** Writes the settings of Gemini CLI, and of Qwen Code, which began as its copy. */
export async function writeSettings(
  folder: string,
  { url, command, args, env }: ServerEntry,
  more: object,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const demo = url === undefined ? { command, args, env } : { httpUrl: url }
  await writeFile(join(folder, 'settings.json'), JSON.stringify({ mcpServers: { demo }, ...more }))
}

/** Logs in to the server. Gemini CLI sends the tokens only after its next start. */
async function logIn(terminal: Terminal): Promise<void> {
  await terminal.type('/mcp auth demo')
  await terminal.see(/^ *demo *$/m)
  await terminal.press('Enter')
  await terminal.see(/Do you want to continue/)
  await terminal.press('Enter')
  await terminal.see(/Successfully authenticated/)
  await terminal.close()
}

export const geminiCli: Host = {
  name: 'Gemini CLI',
  kind: 'agent',
  packages: ['@google/gemini-cli'],
  async start({ path, home, server, model }) {
    await writeSettings(join(home, '.gemini'), server, {
      general: { enableAutoUpdate: false, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
    })
    const env = {
      PATH: path,
      HOME: home,
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_API_KEY: 'none',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }
    const command = ['gemini', '--yolo', '--model', 'gemini-2.5-flash']
    const open = (): Promise<Terminal> => openTerminal({ command, cwd: home, env, ready: /Type your message/ })
    if (server.needsLogin) await logIn(await open())
    const terminal = await open()
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      cancel: () => terminal.press('Escape'),
      async prompt(name, values) {
        // It looks for the commands of servers before they have answered.
        await terminal.type('/commands reload')
        await terminal.press('Enter')
        await terminal.see(/reloaded successfully/)
        return session.submit(`/${name} ${Object.values(values).join(' ')}`)
      },
      read: (uri) => session.call('read_mcp_resource', { uri }),
    }
  },
}
