-- checks: what a script looks at before its first change.

-- failure(check, ...) calls check, which changes nothing, and is its result.
-- Where the server ends it with an error, such as a command that the user may
-- not run, it is that error as a reply of its own: not the death of a script
-- that may have changed something.
local function failure(check, ...)
  local done, result = pcall(check, ...)
  if done then
    return result
  end
  local err = type(result) == 'table' and result.err or tostring(result)
  return {err = (string.gsub(err, 'user_script', 'script'))}
end
