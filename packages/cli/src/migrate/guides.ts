/** The sections that explain what the author has to write. */
const guides = {
  version1: 'from-the-official-sdk.md#from-version-1',
  version2: 'from-the-official-sdk.md#from-version-2',
  replay: 'replay.md',
  http: 'http.md#use-your-own-http-server-or-framework',
  network: 'http.md#let-other-machines-connect',
  protect: 'protect.md',
  sessions: 'sessions.md',
  tasks: 'tasks.md',
  server: 'server.md',
} as const

/** The name of a section. */
export type Guide = keyof typeof guides

/** Returns the address of a section. */
export function guideOf(guide: Guide): string {
  return `https://git.example/x/mcp/blob/main/docs/guides/${guides[guide]}`
}

/** The files and anchors of all sections. */
export const guidePaths: readonly string[] = Object.values(guides)
