/** A person adds a server to a host with these links. */
export interface InstallLinks {
  readonly vscode: string
  readonly cursor: string
}

/** For a server at a URL, or without one for a package that `npx` starts. */
export function createInstallLinks({ name, url }: { readonly name: string; readonly url?: string }): InstallLinks {
  const command = { command: 'npx', args: ['-y', name] }
  const vscode = JSON.stringify(url === undefined ? command : { type: 'http', url })
  const cursor = JSON.stringify(url === undefined ? command : { url })
  return {
    vscode: `https://vscode.dev/redirect/mcp/install?name=${name}&config=${encodeURIComponent(vscode)}`,
    cursor: `https://cursor.com/en-US/install-mcp?name=${name}&config=${encodeURIComponent(Buffer.from(cursor).toString('base64'))}`,
  }
}
