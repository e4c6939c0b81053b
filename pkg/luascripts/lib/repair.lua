-- repair: how the scripts that mend answer.

-- first(reply) is the error with which a server refuses the first change of a
-- script, else nil.
local function first(reply)
  return type(reply) == 'table' and reply.err and reply or nil
end
