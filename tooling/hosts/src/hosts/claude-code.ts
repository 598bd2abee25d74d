import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Host, terminalSession } from '../session.ts'
import { openTerminal } from '../terminal.ts'

const apiKey = `sk-ant-api03-${'x'.repeat(40)}`

export const claudeCode: Host = {
  name: 'Claude Code',
  kind: 'agent',
  packages: ['@anthropic-ai/claude-code'],
  async start({ path, home, server: { url, command, args, env: serverEnv, needsLogin }, model }) {
    const cwd = join(home, 'project')
    await mkdir(cwd)
    const settings = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
      projects: { [cwd]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      mcpServers: { demo: url === undefined ? { command, args, env: serverEnv } : { type: 'http', url } },
    }
    await writeFile(join(home, '.claude.json'), JSON.stringify(settings))
    const env = {
      PATH: path,
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: apiKey,
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
      ENABLE_TOOL_SEARCH: 'false',
      BROWSER: 'xdg-open',
    }
    if (needsLogin) {
      const logIn = ['claude', 'mcp', 'login', 'demo']
      const login = await openTerminal({ command: logIn, cwd, env, ready: /Authenticated/ })
      await login.close()
    }
    const tools = ['mcp__demo', 'ReadMcpResourceTool']
    const terminal = await openTerminal({ command: ['claude', '--allowedTools', ...tools], cwd, env, ready: /❯/ })
    const session = terminalSession({ terminal, model })
    return {
      ...session,
      async answer(...values) {
        if (values.length === 0) return terminal.choose("I'm done")
        for (const value of values) {
          await terminal.type(value)
          await terminal.press('Enter')
        }
        await terminal.press('Enter')
      },
      cancel: () => terminal.press('Escape'),
      prompt: (name, values) => session.submit(`/mcp__demo__${name} ${Object.values(values).join(' ')}`),
      read: (uri) => session.call('ReadMcpResourceTool', { server: 'demo', uri }),
    }
  },
}
