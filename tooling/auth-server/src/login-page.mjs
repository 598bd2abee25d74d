/**
 * Returns the login page, on which the user chooses an account.
 *
 * @param {readonly string[]} accounts
 * @param {string | undefined} scope
 */
export function loginPage(accounts, scope) {
  const buttons = accounts.map(
    (account) => `<button name="account" value="${escape(account)}">${escape(account)}</button>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  form { max-width: 22rem; margin: 15vh auto; padding: 0 1rem; display: grid; gap: 0.75rem; }
  h1 { font-size: 1.4rem; margin: 0; }
  p { margin: 0; }
  button { font: inherit; padding: 0.6rem; text-transform: capitalize; }
</style>
<form method="post">
  <h1>Who are you?</h1>
  <p>This authorization server is for tests. It requires no password.</p>
  <p>The client requests the scope: <b>${escape(scope ?? 'nothing')}</b></p>
  ${buttons.join('\n  ')}
  <button name="account" value="none">decline</button>
</form>
</html>
`
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}
