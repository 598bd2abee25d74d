import { migrateSource } from '../migrate/migrate-source.ts'

/** The import of the official SDK. */
export const mcp = "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'"
/** The server of the official SDK. */
export const created = "const server = new McpServer({ name: 'demo', version: '1.0.0' })"

/** Rewrites a program with one server, and returns its new text without line breaks and repeated blanks. */
export function migrateProgram(body: string, head = ''): string {
  const text = `${mcp}\n${head}import * as z from 'zod'\n\n${created}\n${body}\n`
  return migrateSource('server.ts', text).text.replaceAll(/\s+/g, ' ')
}

/** Returns the places that are left of a program with one server: lines and sentences. */
export function leftoversOf(body: string, head = ''): readonly string[] {
  const text = `${mcp}\n${head}import * as z from 'zod'\n${created}\n${body}\n`
  return migrateSource('server.ts', text).leftovers.map(({ line, message }) => `${line} ${message}`)
}
