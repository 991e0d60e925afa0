* Read the rows of a release into Stata. Dates and times become Stata dates, numbers become numbers; codes with leading zeros stay text.
*
*   do read_release.do FOLDER

args folder
import delimited using "`folder'/synthetic.csv", clear varnames(1) case(preserve) encoding("utf-8") bindquote(strict) stringcols(_all)

foreach name of varlist _all {
    * a column whose cells are all empty or YYYY-MM-DD is a date; with a T and a time behind it, a datetime
    quietly count if `name' != ""
    local filled = r(N)
    quietly count if regexm(`name', "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$")
    if `filled' > 0 & r(N) == `filled' {
        tempvar new
        generate double `new' = date(`name', "YMD")
        format `new' %td
        order `new', after(`name')
        drop `name'
        rename `new' `name'
        continue
    }
    quietly count if regexm(`name', "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T")
    if `filled' > 0 & r(N) == `filled' {
        tempvar new
        generate double `new' = clock(subinstr(`name', "T", " ", 1), "YMDhms")
        format `new' %tc
        order `new', after(`name')
        drop `name'
        rename `new' `name'
        continue
    }
    quietly count if regexm(`name', "^0[0-9]")
    if r(N) == 0 quietly destring `name', replace
}
