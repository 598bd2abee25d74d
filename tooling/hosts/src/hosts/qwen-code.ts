import { join } from 'node:path'
import { openTerminal } from '../terminal.ts'
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
      ui: { enableFollowupSuggestions: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'openai' } },
    })
    const env = {
      PATH: path,
      HOME: home,
      // It opens the page of a login only where there is a display.
      DISPLAY: ':0',
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'none',
      // Of other models it knows too little to send them images.
      OPENAI_MODEL: 'qwen3-vl-plus',
    }
    const terminal = await openTerminal({ command: ['qwen', '--yolo'], cwd: home, env, ready: /Type your message/ })
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      cancel: () => terminal.press('Escape'),
      prompt: (name, values) => session.submit(`/${name} ${Object.values(values).join(' ')}`),
      read: (uri) => session.call('read_mcp_resource', { server_name: 'demo', uri }),
    }
  },
}
