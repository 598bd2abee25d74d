/** The fields whose values are printed. */
const printed = new Set(
  (
    'method resource scope authorization_servers authorization_endpoint token_endpoint registration_endpoint ' +
    'client_name response_type code_challenge_method iss grant_type token_type'
  ).split(' '),
)
/** The fields with random or secret values, of which only the names are printed. */
const masked = new Set(
  'client_id redirect_uri state code_challenge code code_verifier access_token refresh_token'.split(' '),
)

/** Sends a request, and prints it with its response. It replaces `fetch`. */
export async function printingFetch(url, options) {
  const request = new Request(url, options)
  const { origin, pathname, searchParams } = new URL(request.url)
  const body = await request.clone().text()
  const response = await fetch(request)
  // The port of the client and the ids of a login differ in each run.
  const printedUrl = `${origin}${pathname}`
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:…')
    .replace(/(login|auth)\/.*/, '$1/…')
  console.log(`${request.method} ${printedUrl}`)
  if (request.headers.has('authorization')) console.log('  Authorization: Bearer …')
  printFields('  ', Object.fromEntries(searchParams))
  printFields('  ', readFields(request.headers.get('content-type'), body))
  console.log(`→ ${response.status}`)
  const challenge = response.headers.get('www-authenticate')
  if (challenge !== null) console.log(`  WWW-Authenticate: ${challenge}`)
  printFields('  ', readFields(response.headers.get('content-type'), await response.clone().text()))
  return response
}

function readFields(type, body) {
  if (type?.startsWith('application/json')) return JSON.parse(body)
  return type?.startsWith('application/x-www-form-urlencoded') ? Object.fromEntries(new URLSearchParams(body)) : {}
}

function printFields(indent, fields) {
  for (const [name, value] of Object.entries(fields)) {
    if (printed.has(name)) console.log(`${indent}${name}: ${[value].flat().join(', ')}`)
    if (masked.has(name)) console.log(`${indent}${name}: …`)
  }
}
