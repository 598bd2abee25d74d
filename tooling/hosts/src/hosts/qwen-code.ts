import { join } from 'node:path'
import { openTerminal, startMs } from '../terminal.ts'
import { type Host, terminalSession } from '../session.ts'
import { writeSettings } from './gemini-cli.ts'

export const qwenCode: Host = {
  name: 'Qwen Code',
  kind: 'agent',
  packages: ['@qwen-code/qwen-code'],
  async start({ path, home, server, model }) {
    await writeSettings(join(home, '.qwen'), server, {
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      tools: { toolSearch: { enabled: false } },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'openai' } },
    })
    const env = {
      PATH: path,
      HOME: home,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'stand-in',
    }
    const terminal = await openTerminal({ command: ['qwen', '--yolo'], cwd: home, env })
    await terminal.see(/Type your message/, startMs)
    return { ...terminalSession({ terminal, model }), cancel: () => terminal.press('Escape') }
  },
}
