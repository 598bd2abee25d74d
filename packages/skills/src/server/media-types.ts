const mediaTypes: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  txt: 'text/plain',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  xml: 'application/xml',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/x-typescript',
  py: 'text/x-python',
  sh: 'application/x-sh',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

/** Without a known extension, a file is plain text or any bytes. */
export function mediaTypeOfFile(name: string, isText: boolean): string {
  const extension = /\.(?<extension>[^.]+)$/.exec(name)?.groups?.['extension']?.toLowerCase() ?? ''
  if (Object.hasOwn(mediaTypes, extension)) return mediaTypes[extension] ?? ''
  return isText ? 'text/plain' : 'application/octet-stream'
}
