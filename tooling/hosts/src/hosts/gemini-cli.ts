import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openTerminal, startMs } from '../terminal.ts'
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
    const terminal = await openTerminal({
      command: ['gemini', '--yolo', '--model', 'gemini-2.5-flash'],
      cwd: home,
      env,
    })
    await terminal.see(/Type your message/, startMs)
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      cancel: () => terminal.press('Escape'),
      prompt: (name, values) => session.submit(`/${name} ${Object.values(values).join(' ')}`),
      read: (uri) => session.call('read_mcp_resource', { uri }),
    }
  },
}
